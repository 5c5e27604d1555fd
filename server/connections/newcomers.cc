#include "server/connections/newcomers.h"

#include <algorithm>
#include <utility>

namespace vicinity {

std::optional<Newcomer> Newcomers::Add(Newcomer newcomer) {
  const std::string machine = newcomer.peer.machine;
  std::deque<Newcomer>& waiting = of_machine_[machine];
  if (waiting.empty()) turns_.push_back(machine);
  waiting.push_back(std::move(newcomer));
  if (++size_ <= most_) return std::nullopt;
  const auto most = std::max_element(
      of_machine_.begin(), of_machine_.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  const std::string crowd = most->first;
  if (most->second.size() == 1) turns_.erase(std::find(turns_.begin(), turns_.end(), crowd));
  return TakeFrom(crowd);
}

std::optional<Newcomer> Newcomers::Next() {
  if (turns_.empty()) return std::nullopt;
  const std::string machine = std::move(turns_.front());
  turns_.pop_front();
  if (of_machine_[machine].size() > 1) turns_.push_back(machine);
  return TakeFrom(machine);
}

Newcomer Newcomers::TakeFrom(const std::string& machine) {
  const auto found = of_machine_.find(machine);
  Newcomer oldest = std::move(found->second.front());
  found->second.pop_front();
  if (found->second.empty()) of_machine_.erase(found);
  --size_;
  return oldest;
}

}  // namespace vicinity
