// A collector of traces: takes OTLP over HTTP on loopback and keeps what came.
#pragma once

#include <httplib.h>

#include <string>
#include <thread>
#include <vector>

#include "proto/common/mutex.h"

namespace vicinity {

// Threads: any.
class Collector {
 public:
  struct Request {
    std::string path;
    std::string type;
    std::string body;
  };

  Collector() {
    server_.Post(".*", [this](const httplib::Request& request, httplib::Response& response) {
      MutexLock lock(&mu_);
      requests_.push_back({request.path, request.get_header_value("Content-Type"), request.body});
      response.status = status_;
      response.set_content("{}", "application/json");
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();  // else stop() does nothing
  }
  ~Collector() {
    server_.stop();
    thread_.join();
  }

  std::string endpoint() const { return "http://127.0.0.1:" + std::to_string(port_); }
  std::vector<Request> requests() const {
    MutexLock lock(&mu_);
    return requests_;
  }
  void AnswerWith(int status) {
    MutexLock lock(&mu_);
    status_ = status;
  }

 private:
  mutable Mutex mu_;
  std::vector<Request> requests_ ABSL_GUARDED_BY(mu_);
  int status_ ABSL_GUARDED_BY(mu_) = 200;
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
};

}  // namespace vicinity
