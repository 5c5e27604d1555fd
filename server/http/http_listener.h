// The sockets that the HTTP port listens with.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/cluster/host_port.h"

namespace vicinity {

// Threads: one at a time. The destructor closes the port.
class HttpListener {
 public:
  // On every address that the host has; port 0 picks one. What CheckListenAddress says; Unavailable
  // with what the system said.
  static absl::StatusOr<std::unique_ptr<HttpListener>> Listen(const HostPort& address);
  ~HttpListener();
  HttpListener(const HttpListener&) = delete;
  HttpListener& operator=(const HttpListener&) = delete;

  const HostPort& address() const { return address_; }  // with the port that was picked
  const std::vector<int>& fds() const { return fds_; }  // which do not block
  // The next connection, which does not block either; -1: none.
  static int Accept(int fd);

 private:
  explicit HttpListener(HostPort address) : address_(std::move(address)) {}
  HostPort address_;
  std::vector<int> fds_;
};

}  // namespace vicinity
