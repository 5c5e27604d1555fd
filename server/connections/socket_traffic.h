// What the kernel says of a TCP connection that somebody else reads and writes.
#pragma once

#include <cstdint>
#include <optional>

namespace vicinity {

struct SocketTraffic {
  int64_t consumed = 0;  // bytes received and taken from the socket
  int64_t sent = 0;      // bytes that the peer has acknowledged
};

// A number that no other socket has had, by which a descriptor that was closed, and perhaps given
// to another file since, can be told from the socket that it was. None if it is no socket (any
// more).
std::optional<uint64_t> SocketId(int fd);

SocketTraffic TrafficOf(int fd);

// Ends the connection at once, and drops what was not sent. Whoever has the descriptor sees its
// end, and closes it.
void EndConnection(int fd);

}  // namespace vicinity
