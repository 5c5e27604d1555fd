// Where a connection comes from.
#pragma once

#include <sys/socket.h>

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace vicinity {

struct PeerAddress {
  std::string endpoint;  // address and port, in a form to be compared
  std::string machine;   // for people; what one machine has at least
  std::string text;      // for people: "10.0.0.7:4711"
};

// What one machine has at least: who has one address of an IPv6 network of 64 bits, or one that
// stands for the machine itself, may have all of them. "10.0.0.7", "2001:db8::/64", "127.0.0.1".
//
// None if it is no address of the Internet, as of a socket in the file system.
std::optional<PeerAddress> PeerOfSocket(const sockaddr_storage& address);
// `peer` as gRPC writes it: "ipv4:127.0.0.1:4711", "ipv6:%5B::1%5D:4711".
std::optional<PeerAddress> PeerOfText(absl::string_view peer);

// Whether it is one of this host's own addresses, as the system has them now.
bool IsOfThisHost(const PeerAddress& peer);

}  // namespace vicinity
