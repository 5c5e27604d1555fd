#include "sampler/rules/matching_cache.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "absl/status/statusor.h"
#include "proto/common/thread.h"

namespace vicinity {
namespace {

// Conditions that are counted, most of which nobody asks by for long.
constexpr size_t kMostEntries = 256;

}  // namespace

MatchingCache::Entry* MatchingCache::Touch(const Shard& shard, EdgeTypeId edge_type,
                                           const Condition& condition) {
  const auto is_it = [&](const Entry& entry) {
    return entry.shard == &shard && entry.edge_type == edge_type &&
           (entry.condition == condition || *entry.condition == *condition);
  };
  const auto found = std::find_if(entries_.begin(), entries_.end(), is_it);
  if (found != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, found);
  } else {
    Entry& entry = entries_.emplace_front();
    entry.shard = &shard;
    entry.edge_type = edge_type;
    entry.condition = condition;
    if (entries_.size() > kMostEntries) DropOldest();
  }
  return &entries_.front();
}

void MatchingCache::DropOldest() {
  const Entry& oldest = entries_.back();
  if (oldest.edges != nullptr) num_bytes_ -= oldest.edges->num_bytes();
  entries_.pop_back();
}

std::shared_ptr<const MatchingEdges> MatchingCache::Find(const Shard& shard, EdgeTypeId edge_type,
                                                         const Condition& condition) {
  MutexLock lock(&mutex_);
  return Touch(shard, edge_type, condition)->edges;
}

void MatchingCache::CountRead(const Shard& shard, EdgeTypeId edge_type, const Condition& condition,
                              int64_t edges) {
  MutexLock lock(&mutex_);
  Entry* const entry = Touch(shard, edge_type, condition);
  entry->edges_read += edges;
  const int64_t all = ShardReader(shard).num_edges(edge_type);
  if (entry->edges != nullptr || pass_.is_running()) return;
  if (entry->edges_read < all || MatchingEdges::BytesFor(all) > max_bytes_) return;
  pass_.Start([this, entry = *entry] { Look(entry); });  // if it cannot, another call tries again
}

void MatchingCache::Look(const Entry& entry) {
  absl::StatusOr<MatchingEdges> edges = WithinResources([&] {
    return MatchingEdges::Find(*entry.shard, entry.edge_type, *entry.condition,
                               [this] { return pass_.stops(); });
  });
  MutexLock lock(&mutex_);
  Entry* const kept = Touch(*entry.shard, entry.edge_type, entry.condition);
  kept->edges_read = 0;
  if (!edges.ok()) return;  // what is wrong with the files, who reads them says; then once more
  kept->edges = std::make_shared<const MatchingEdges>(*std::move(edges));
  num_bytes_ += kept->edges->num_bytes();
  while (num_bytes_ > max_bytes_ && entries_.size() > 1) DropOldest();
}

int64_t MatchingCache::num_bytes() const {
  MutexLock lock(&mutex_);
  return num_bytes_;
}

int MatchingCache::num_kept() const {
  MutexLock lock(&mutex_);
  return static_cast<int>(std::count_if(entries_.begin(), entries_.end(),
                                        [](const Entry& entry) { return entry.edges != nullptr; }));
}

}  // namespace vicinity
