#include "partition/overlay/list_cache.h"

#include <utility>

namespace vicinity {

ChangedListPtr ListCache::Find(const Key& key) {
  MutexLock lock(&mu_);
  const auto found = places_.find(key);
  if (found == places_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->list;
}

void ListCache::Keep(const Key& key, ChangedListPtr list) {
  const int64_t bytes = BytesOf(*list);
  if (bytes > limit_bytes_) return;
  MutexLock lock(&mu_);
  if (places_.contains(key)) return;  // somebody else was as quick
  entries_.push_front({key, std::move(list), bytes});
  places_.emplace(key, entries_.begin());
  bytes_ += bytes;
  while (bytes_ > limit_bytes_) {
    bytes_ -= entries_.back().bytes;
    places_.erase(entries_.back().key);
    entries_.pop_back();
  }
}

int64_t ListCache::bytes() const {
  MutexLock lock(&mu_);
  return bytes_;
}

int64_t ListCache::BytesOf(const ChangedList& list) {
  constexpr int64_t kOverhead = 256;  // of the objects around it
  return kOverhead + static_cast<int64_t>(list.sources.capacity() * sizeof(list.sources[0]) +
                                          list.edge_ids.capacity() * sizeof(list.edge_ids[0]) +
                                          list.positions.capacity() * sizeof(list.positions[0]) +
                                          list.weights.capacity() * sizeof(list.weights[0]));
}

}  // namespace vicinity
