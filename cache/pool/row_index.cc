#include "cache/pool/row_index.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace vicinity {

void RowIndex::Reserve(size_t num_more) {
  size_t num_entries = entries_.size();
  while (5 * (size_ + num_more) > 3 * num_entries) num_entries *= 2;
  if (num_entries > entries_.size()) Resize(num_entries);
}

RowEntry* RowIndex::Add(RowKey key) {
  size_t i = Home(key.id());
  while (!entries_[i].key.is_none()) i = (i + 1) & mask_;
  ++size_;
  entries_[i] = RowEntry();
  entries_[i].key = key;
  return &entries_[i];
}

// Later entries of the run move up, so that no lookup ever walks over a tombstone.
void RowIndex::Remove(RowEntry* entry) {
  size_t hole = entry - entries_.data();
  for (size_t i = (hole + 1) & mask_; !entries_[i].key.is_none(); i = (i + 1) & mask_) {
    const size_t home = Home(entries_[i].key.id());
    // It may fill the hole unless its home lies behind it, in (hole, i].
    if (((i - home) & mask_) < ((i - hole) & mask_)) continue;
    entries_[hole] = entries_[i];
    hole = i;
  }
  entries_[hole] = RowEntry();
  --size_;
}

void RowIndex::Resize(size_t num_entries) {
  const std::vector<RowEntry> old = std::exchange(entries_, std::vector<RowEntry>(num_entries));
  mask_ = num_entries - 1;
  shift_ = 64 - __builtin_ctzll(num_entries);
  for (const RowEntry& entry : old) {
    if (entry.key.is_none()) continue;
    size_t i = Home(entry.key.id());
    while (!entries_[i].key.is_none()) i = (i + 1) & mask_;
    entries_[i] = entry;
  }
}

}  // namespace vicinity
