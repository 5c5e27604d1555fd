#include "server/connections/peer_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

namespace vicinity {
namespace {

std::string TextOf(const in6_addr& address) {
  char text[INET6_ADDRSTRLEN];
  if (!IN6_IS_ADDR_V4MAPPED(&address)) return inet_ntop(AF_INET6, &address, text, sizeof(text));
  return inet_ntop(AF_INET, &address.s6_addr[12], text, sizeof(text));
}

// An IPv4 address within IPv6's, as the kernel shows it on sockets that take both.
in6_addr Mapped(const in_addr& address) {
  in6_addr mapped{};
  mapped.s6_addr[10] = mapped.s6_addr[11] = 0xff;
  std::memcpy(&mapped.s6_addr[12], &address, sizeof(address));
  return mapped;
}

std::string MachineOf(const in6_addr& address) {
  if (IN6_IS_ADDR_V4MAPPED(&address)) {
    return address.s6_addr[12] == 127 ? "127.0.0.1" : TextOf(address);
  }
  if (IN6_IS_ADDR_LOOPBACK(&address)) return "::1";
  in6_addr network = address;
  std::memset(&network.s6_addr[8], 0, 8);
  return absl::StrCat(TextOf(network), "/64");
}

PeerAddress Of(const in6_addr& address, uint16_t port) {
  PeerAddress peer;
  peer.endpoint.assign(reinterpret_cast<const char*>(&address), sizeof(address));
  peer.endpoint.append(reinterpret_cast<const char*>(&port), sizeof(port));
  peer.machine = MachineOf(address);
  const bool is_v4 = IN6_IS_ADDR_V4MAPPED(&address);
  peer.text = is_v4 ? absl::StrCat(TextOf(address), ":", port)
                    : absl::StrCat("[", TextOf(address), "]:", port);
  return peer;
}

}  // namespace

std::optional<PeerAddress> PeerOfSocket(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &address, sizeof(v4));
    return Of(Mapped(v4.sin_addr), ntohs(v4.sin_port));
  }
  if (address.ss_family != AF_INET6) return std::nullopt;
  sockaddr_in6 v6{};
  std::memcpy(&v6, &address, sizeof(v6));
  return Of(v6.sin6_addr, ntohs(v6.sin6_port));
}

std::optional<PeerAddress> PeerOfText(absl::string_view peer) {
  const bool is_v4 = absl::ConsumePrefix(&peer, "ipv4:");
  if (!is_v4 && !absl::ConsumePrefix(&peer, "ipv6:")) return std::nullopt;
  const size_t colon = peer.rfind(':');
  uint32_t port = 0;
  if (colon == absl::string_view::npos || !absl::SimpleAtoi(peer.substr(colon + 1), &port)) {
    return std::nullopt;
  }
  std::string host =
      absl::StrReplaceAll(peer.substr(0, colon), {{"%5B", ""}, {"%5D", ""}, {"[", ""}, {"]", ""}});
  host.resize(std::min(host.size(), host.find('%')));  // the zone
  in_addr v4{};
  if (is_v4 && inet_pton(AF_INET, host.c_str(), &v4) == 1) {
    return Of(Mapped(v4), static_cast<uint16_t>(port));
  }
  in6_addr v6{};
  if (is_v4 || inet_pton(AF_INET6, host.c_str(), &v6) != 1) return std::nullopt;
  return Of(v6, static_cast<uint16_t>(port));
}

bool IsOfThisHost(const PeerAddress& peer) {
  if (peer.machine == "127.0.0.1" || peer.machine == "::1") return true;
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return false;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(first, &freeifaddrs);
  const absl::string_view address = absl::string_view(peer.endpoint).substr(0, sizeof(in6_addr));
  for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr) continue;
    const sa_family_t family = each->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    sockaddr_storage storage{};
    std::memcpy(&storage, each->ifa_addr,
                family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    const std::optional<PeerAddress> own = PeerOfSocket(storage);
    if (own.has_value() && absl::StartsWith(own->endpoint, address)) return true;
  }
  return false;
}

}  // namespace vicinity
