// A listening Unix socket with an abstract name: it leaves no file behind, and is seen by processes
// of the same network namespace alone.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace vicinity {

// Threads: one at a time. The destructor closes the socket.
class UnixListener {
 public:
  // A name that no other listener has; it is no secret (/proc/net/unix). Unavailable with what the
  // system said.
  static absl::StatusOr<std::unique_ptr<UnixListener>> Listen();
  ~UnixListener();
  UnixListener(const UnixListener&) = delete;
  UnixListener& operator=(const UnixListener&) = delete;

  const std::string& name() const { return name_; }  // without its zero byte
  int fd() const { return fd_; }                     // which does not block
  // The next connection, which does not block either; -1: none.
  int Accept() const;

 private:
  UnixListener(int fd, std::string name);
  const int fd_;
  const std::string name_;
};

}  // namespace vicinity
