#include "server/shard_health.h"

#include <memory>
#include <unordered_set>
#include <utility>

namespace vicinity {

ShardHealth::ShardHealth(const Dataset& dataset) {
  std::unordered_set<std::string> unchecked;
  for (const proto::FileEntry& file : dataset.unchecked()) unchecked.insert(file.path());
  for (const std::unique_ptr<Shard>& shard : dataset.shards()) {
    State state;
    state.shard = shard->id();
    for (const proto::FileEntry& file : dataset.manifest().shards(shard->id().value).files()) {
      const int64_t bytes = static_cast<int64_t>(file.size());
      state.file_bytes += bytes;
      if (unchecked.count(file.path()) == 0) state.checked_bytes += bytes;
    }
    states_.push_back(std::move(state));
  }
}

absl::Status ShardHealth::Check(ShardId shard) const {
  MutexLock lock(&mu_);
  for (const State& state : states_) {
    if (state.shard == shard && !state.fault.empty()) return absl::DataLossError(state.fault);
  }
  return absl::OkStatus();
}

void ShardHealth::AddChecked(ShardId shard, int64_t bytes) {
  MutexLock lock(&mu_);
  if (State* state = Find(shard); state != nullptr) state->checked_bytes += bytes;
}

bool ShardHealth::MarkFaulty(ShardId shard, std::string fault) {
  MutexLock lock(&mu_);
  State* state = Find(shard);
  if (state == nullptr || !state->fault.empty()) return false;
  state->fault = std::move(fault);
  return true;
}

std::vector<ShardHealth::State> ShardHealth::states() const {
  MutexLock lock(&mu_);
  return states_;
}

ShardHealth::State* ShardHealth::Find(ShardId shard) {
  for (State& state : states_) {
    if (state.shard == shard) return &state;
  }
  return nullptr;
}

}  // namespace vicinity
