// An HTTP port that shows one text, /metrics, to Prometheus.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "proto/cluster/host_port.h"

namespace vicinity {

// GET and HEAD of /metrics alone, of plain HTTP/1; every reply ends its connection. One connection
// is served at a time; a request has 2 s to come, in at most 8 KiB, and a reply 5 s to be taken, so
// that who holds the port up holds up nothing else. On loopback a request must name the host by a
// number or as `localhost`, so that no web site can read it through a browser on the machine.
//
// Threads:  has one of its own, which calls `text`.
// Lifetime: the destructor waits for a call of `text` and for nothing else.
class MetricsPort {
 public:
  // `address`: port 0 is one that is free. Errors: Unavailable or InvalidArgument naming the
  // address, ResourceExhausted.
  static absl::StatusOr<std::unique_ptr<MetricsPort>> Start(const HostPort& address,
                                                            std::function<std::string()> text);
  ~MetricsPort();
  MetricsPort(const MetricsPort&) = delete;
  MetricsPort& operator=(const MetricsPort&) = delete;

  const HostPort& address() const { return address_; }  // with the port that it has

 private:
  MetricsPort(HostPort address, std::function<std::string()> text);
  void Run() const;
  void Serve(int connection) const;
  std::string ReplyTo(const std::string& head) const;
  // Waits until it may be read or written. False: too late, or this is to end.
  bool WaitFor(int descriptor, short events, double end_seconds) const;

  HostPort address_;
  const std::function<std::string()> text_;
  int listener_ = -1;
  int stop_ = -1;  // readable: to end
  std::thread thread_;
};

}  // namespace vicinity
