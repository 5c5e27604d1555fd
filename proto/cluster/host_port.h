// The addresses that servers listen on and clients dial.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace vicinity {

// "host:port", a host being a DNS name, an IPv4 address or an IPv6 address in brackets.
struct HostPort {
  std::string host;  // without brackets
  int port = 0;

  std::string ToString() const;
  bool loopback() const;  // 127.0.0.0/8, ::1 or "localhost"
  bool wildcard() const;  // 0.0.0.0 or ::, every address of the host
};

// InvalidArgument quoting `text` unless it is such an address, with a port from 0 to 65535.
absl::StatusOr<HostPort> ParseHostPort(absl::string_view text);

}  // namespace vicinity
