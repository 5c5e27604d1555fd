#include "proto/cluster/host_port.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace vicinity {
namespace {

// The host and port of an address may be anything that a resolver could take; what is refused here
// is what is certainly a slip.
bool PlausibleHost(absl::string_view host) {
  if (host.empty() || host.size() > 253) return false;
  return std::all_of(host.begin(), host.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '.' || c == '-' || c == '_';
  });
}

bool PlausibleIpv6(absl::string_view host) {
  in6_addr address;
  // The zone of a link-local address is a name of the host's own.
  return inet_pton(AF_INET6, std::string(host.substr(0, host.find('%'))).c_str(), &address) == 1;
}

}  // namespace

std::string HostPort::ToString() const {
  return absl::StrContains(host, ':') ? absl::StrCat("[", host, "]:", port)
                                      : absl::StrCat(host, ":", port);
}

bool HostPort::loopback() const {
  in_addr v4;
  // Parsed, not compared: "127.example.org" is a name that may be anywhere.
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  return host == "localhost" || host == "::1";
}

bool HostPort::wildcard() const { return host == "0.0.0.0" || host == "::"; }

absl::StatusOr<HostPort> ParseHostPort(absl::string_view text) {
  const auto fault = [text](absl::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" is not an address (host:port): ", why));
  };
  const size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos) return fault("it has no port");
  const absl::string_view port = text.substr(colon + 1);
  absl::string_view host = text.substr(0, colon);
  HostPort address;
  const bool digits = !port.empty() && std::all_of(port.begin(), port.end(), absl::ascii_isdigit);
  if (!digits || !absl::SimpleAtoi(port, &address.port) || address.port > 65535) {
    return fault(absl::StrCat("\"", port, "\" is not a port"));
  }
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
    if (!PlausibleIpv6(host)) return fault("the brackets hold no IPv6 address");
  } else if (!PlausibleHost(host)) {
    return fault(absl::StrCat("\"", host, "\" is not a host"));
  }
  address.host = std::string(host);
  return address;
}

}  // namespace vicinity
