#include "sampler/node_index.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vicinity {

void NodeIndex::Clear(size_t num_nodes) {
  if (slots_.size() > kMinSlots && slots_.size() > 16 * num_nodes) {
    Resize(slots_.size() / 2);
  } else {
    std::fill(slots_.begin(), slots_.end(), kEmpty);
  }
}

void NodeIndex::Resize(size_t num_slots) {
  std::vector<uint64_t>(num_slots, kEmpty).swap(slots_);
  mask_ = num_slots - 1;
  shift_ = 64 - __builtin_ctzll(num_slots);
}

void NodeIndex::Grow(const std::vector<int64_t>& ids) {
  Resize(2 * slots_.size());
  for (size_t position = 0; position < ids.size(); ++position) {
    size_t slot = Home(ids[position]);
    while (slots_[slot] != kEmpty) slot = (slot + 1) & mask_;
    slots_[slot] = static_cast<uint64_t>(ids[position]) << 32 | (position + 1);
  }
}

}  // namespace vicinity
