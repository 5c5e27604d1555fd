// Whether a server still takes part in conversations, asked from inside its own process.
#pragma once

#include <sys/socket.h>

#include <chrono>

#include "absl/status/statusor.h"
#include "proto/cluster/host_port.h"

namespace vicinity {

// Connects to a port of this host and begins as an HTTP/2 client does. A server that is alive sends
// something back, its settings, or ends the connection: one with TLS because that was no handshake,
// an overloaded one because it has too many. So an overload is no death, and the probe needs no
// certificate. It passes through the acceptor and gRPC's threads, not through those that work on
// calls for data, where waiting is nothing unusual.
//
// Threads: any number may use it at once. Cost: a connection without a call, for its time.
class PortProbe {
 public:
  // Looks the host up, once. InvalidArgument if it has no address.
  static absl::StatusOr<PortProbe> Create(const HostPort& address);

  // True as soon as anything comes back. False after `limit` without a sign, or if nobody listens.
  bool Answers(std::chrono::nanoseconds limit) const;

 private:
  PortProbe() = default;
  sockaddr_storage address_{};
  socklen_t size_ = 0;
};

}  // namespace vicinity
