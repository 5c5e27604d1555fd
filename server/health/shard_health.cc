#include "server/health/shard_health.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "partition/dataset/manifest.h"
#include "partition/dataset/shard.h"

namespace vicinity {

ShardHealth::ShardHealth(const Dataset& dataset) : dataset_(dataset) {
  std::set<std::string> unchecked;
  for (const proto::FileEntry& file : dataset.unchecked()) unchecked.insert(file.path());
  for (const std::unique_ptr<Shard>& shard : dataset.shards()) {
    const int32_t id = shard->id().value;
    for (const proto::FileEntry* const file : FilesOfShard(dataset.manifest(), shard->id())) {
      if (unchecked.count(file->path()) > 0) continue;
      checked_[id].insert(absl::StrCat(dataset.directory(), "/", file->path()));
      checked_bytes_[id] += static_cast<int64_t>(file->size());
    }
  }
}

void ShardHealth::AddChecked(ShardId shard, const VerifiedFile& file) {
  const MutexLock lock(&mu_);
  if (checked_[shard.value].insert(file.path()).second) checked_bytes_[shard.value] += file.size();
}

void ShardHealth::LogFault(ShardId shard, spdlog::logger* log) {
  const absl::Status fault = dataset_.fault(shard);
  const MutexLock lock(&mu_);
  if (fault.ok() && known_faulty_.erase(shard.value) > 0) {
    log->info("shard {} is served again", shard.value);
  } else if (!fault.ok() && known_faulty_.insert(shard.value).second) {
    log->error("shard {} is not served any more: {}", shard.value, std::string(fault.message()));
  }
}

void ShardHealth::SetScrubbed(const Scrubbed& scrubbed) {
  const MutexLock lock(&mu_);
  scrubbed_ = scrubbed;
}

void ShardHealth::SetScrubDone(int64_t bytes) {
  const MutexLock lock(&mu_);
  scrubbed_.done_bytes = bytes;
}

ShardHealth::Scrubbed ShardHealth::scrubbed() const {
  const MutexLock lock(&mu_);
  return scrubbed_;
}

int64_t ShardHealth::FileBytes(ShardId id) const {
  int64_t bytes = 0;
  for (const proto::FileEntry* const file : FilesOfShard(dataset_.manifest(), id)) {
    bytes += static_cast<int64_t>(file->size());
  }
  return bytes;
}

int64_t ShardHealth::CheckedBytes(ShardId id, int64_t file_bytes) const {
  int64_t checked = 0;
  if (const Shard* const shard = dataset_.shard(id); shard != nullptr) {
    for (const std::unique_ptr<VerifiedFile>& file : shard->files()) {
      checked += file->verified_bytes();
    }
  }
  const MutexLock lock(&mu_);
  const auto at_open = checked_bytes_.find(id.value);
  const int64_t whole = at_open == checked_bytes_.end() ? 0 : at_open->second;
  return std::min(std::max(checked, whole), file_bytes);
}

std::vector<ShardHealth::State> ShardHealth::states() const {
  std::vector<State> states;
  for (const ShardId id : dataset_.wanted()) {
    State state;
    state.shard = id;
    state.file_bytes = FileBytes(id);
    state.checked_bytes = CheckedBytes(id, state.file_bytes);
    state.fault = std::string(dataset_.fault(id).message());
    states.push_back(std::move(state));
  }
  return states;
}

void ShardHealth::AddMetrics(MetricRegistry::Group* group) const {
  for (const ShardId id : dataset_.wanted()) {
    const int64_t file_bytes = FileBytes(id);
    const auto add = [&](const char* name, const char* help, auto value) {
      group->Add({name, help, MetricKind::kGauge}, {{"shard", absl::StrCat(id.value)}},
                 [value] { return static_cast<double>(value()); });
    };
    add("vicinity_server_shard_file_bytes", "Bytes of a shard's files",
        [file_bytes] { return file_bytes; });
    add("vicinity_server_shard_checked_bytes",
        "Of these, verified since start or since they changed",
        [this, id, file_bytes] { return CheckedBytes(id, file_bytes); });
    add("vicinity_server_shard_faulty", "1 for a shard whose calls are refused, for its damage",
        [this, id] { return dataset_.fault(id).ok() ? 0 : 1; });
  }
  group->Add({"vicinity_server_scrub_passes_total", "Checks of all files that are over"}, {},
             [this] { return static_cast<double>(scrubbed().passes); });
  group->Add({"vicinity_server_scrub_done_bytes", "Bytes checked in the pass under way",
              MetricKind::kGauge},
             {}, [this] { return static_cast<double>(scrubbed().done_bytes); });
}

}  // namespace vicinity
