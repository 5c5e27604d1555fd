#include "partition/dataset/fault_list.h"

namespace vicinity {

void FaultList::Add(const std::string& path, const std::string& text) {
  const MutexLock lock(&mu_);
  texts_.emplace(path, text);
  empty_.store(false, std::memory_order_release);
}

void FaultList::Remove(const std::string& path) {
  const MutexLock lock(&mu_);
  texts_.erase(path);
  empty_.store(texts_.empty(), std::memory_order_release);
}

absl::Status FaultList::status() const {
  if (empty()) return absl::OkStatus();
  const MutexLock lock(&mu_);
  return texts_.empty() ? absl::OkStatus() : absl::DataLossError(texts_.begin()->second);
}

}  // namespace vicinity
