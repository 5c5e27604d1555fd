#include "cache/pool/ragged_cache.h"

namespace vicinity {

void RaggedCache::Find(size_t column, absl::Span<const int64_t> nodes,
                       absl::Span<const int64_t> positions, std::string* out,
                       std::vector<size_t>* missing) {
  MutexLock lock(&mu_);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const auto found = places_.find({column, nodes[i]});
    if (found == places_.end()) {
      missing->push_back(i);
      continue;
    }
    out[positions[i]] = found->second->row;
    entries_.splice(entries_.begin(), entries_, found->second);
  }
}

void RaggedCache::Keep(size_t column, int64_t node, const std::string& row) {
  if (CostOf(row) > most_bytes_) return;
  MutexLock lock(&mu_);
  const Key key = {column, node};
  if (places_.contains(key)) return;  // two batches have fetched it
  while (bytes_ + CostOf(row) > most_bytes_) DropLast();
  entries_.push_front({key, row});
  places_.emplace(key, entries_.begin());
  bytes_ += CostOf(row);
}

int64_t RaggedCache::bytes() const {
  MutexLock lock(&mu_);
  return bytes_;
}

void RaggedCache::DropLast() {
  bytes_ -= CostOf(entries_.back().row);
  places_.erase(entries_.back().key);
  entries_.pop_back();
}

}  // namespace vicinity
