#include "server/health/serving_states.h"

#include "absl/strings/str_cat.h"

namespace vicinity {

std::optional<bool> ServingStates::Find(const std::string& service) const {
  const auto found = states_.find(service);
  return found == states_.end() ? std::nullopt : std::optional<bool>(found->second);
}

void ServingStates::Set(const std::string& service, bool is_serving) {
  MutexLock lock(&mu_);
  states_[service] = is_serving;
  for (const auto& [watcher, watched] : watchers_) {
    if (watched.service == service) watcher->OnState(is_serving);
  }
}

std::optional<bool> ServingStates::Of(const std::string& service) const {
  MutexLock lock(&mu_);
  return Find(service);
}

absl::Status ServingStates::Watch(const std::string& service, const std::string& client,
                                  Watcher* watcher) {
  MutexLock lock(&mu_);
  if (ended_) return absl::UnavailableError("the server is stopping");
  if (static_cast<int64_t>(watchers_.size()) >= kMaxWatchers) {
    return absl::ResourceExhaustedError(absl::StrCat("the server's health is watched by ",
                                                     watchers_.size(), " calls, the limit is ",
                                                     kMaxWatchers));
  }
  const auto of_client = of_client_.find(client);
  if (of_client != of_client_.end() && of_client->second >= kMaxWatchersOfClient) {
    return absl::ResourceExhaustedError(absl::StrCat("client ", client, " watches with ",
                                                     of_client->second, " calls, the limit is ",
                                                     kMaxWatchersOfClient));
  }
  ++of_client_[client];
  watchers_[watcher] = {service, client};
  watcher->OnState(Find(service));
  return absl::OkStatus();
}

void ServingStates::Unwatch(Watcher* watcher) {
  MutexLock lock(&mu_);
  const auto found = watchers_.find(watcher);
  if (found == watchers_.end()) return;
  const auto of_client = of_client_.find(found->second.client);
  if (--of_client->second == 0) of_client_.erase(of_client);
  watchers_.erase(found);
}

void ServingStates::End() {
  MutexLock lock(&mu_);
  ended_ = true;
  for (const auto& [watcher, watched] : watchers_) watcher->OnEnd();
  watchers_.clear();
  of_client_.clear();
}

int64_t ServingStates::num_watchers() const {
  MutexLock lock(&mu_);
  return static_cast<int64_t>(watchers_.size());
}

}  // namespace vicinity
