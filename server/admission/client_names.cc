#include "server/admission/client_names.h"

#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "server/connections/peer_address.h"

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

// Of what is no address of the Internet: all of it.
std::string MachineOf(absl::string_view peer) {
  const std::optional<PeerAddress> address = PeerOfText(peer);
  return address.has_value() ? address->machine : std::string(HostOf(peer));
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
