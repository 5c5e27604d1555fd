#include "server/client_names.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace vicinity {
namespace {

constexpr size_t kMaxName = 100;

// Without the scheme before and the port after.
absl::string_view HostOf(absl::string_view peer) {
  const size_t scheme = peer.find(':');
  if (scheme != absl::string_view::npos) peer.remove_prefix(scheme + 1);
  return peer.substr(0, peer.rfind(':'));
}

std::string NameAt(absl::string_view name, absl::string_view host) {
  return absl::StrCat(absl::CHexEscape(name), " at ", host);
}

// What one machine has at least: who has one address of an IPv6 network of 64 bits, or one that
// stands for the machine itself, may have all of them.
std::string MachineOf(absl::string_view peer) {
  const std::string host(HostOf(peer));
  if (absl::StartsWith(host, "127.")) return "127.0.0.1";
  if (!absl::StartsWith(peer, "ipv6:")) return host;
  std::string address = absl::StrReplaceAll(host, {{"%5B", ""}, {"%5D", ""}});
  address.resize(std::min(address.size(), address.find("%25")));  // the zone
  in6_addr network;
  if (inet_pton(AF_INET6, address.c_str(), &network) != 1) return host;
  if (IN6_IS_ADDR_LOOPBACK(&network) || IN6_IS_ADDR_V4MAPPED(&network)) return host;
  std::memset(&network.s6_addr[8], 0, 8);
  char text[INET6_ADDRSTRLEN];
  return absl::StrCat(inet_ntop(AF_INET6, &network, text, sizeof(text)), "/64");
}

}  // namespace

void ClientNames::Learn(const std::string& peer, absl::string_view name) {
  if (name.empty()) return;
  std::string client = NameAt(name.substr(0, kMaxName), HostOf(peer));
  MutexLock lock(&mu_);
  const auto [found, is_new] = by_peer_.try_emplace(peer);
  if (!is_new) recent_.erase(found->second);
  found->second = recent_.insert(recent_.begin(), {peer, std::move(client)});
  if (recent_.size() <= kMaxPeers) return;
  by_peer_.erase(recent_.back().first);
  recent_.pop_back();
}

std::string ClientNames::Of(const std::string& peer, const std::string& identity) {
  if (!identity.empty()) return NameAt(identity, MachineOf(peer));
  MutexLock lock(&mu_);
  const auto found = by_peer_.find(peer);
  if (found == by_peer_.end()) return peer;
  recent_.splice(recent_.begin(), recent_, found->second);
  return found->second->second;
}

}  // namespace vicinity
