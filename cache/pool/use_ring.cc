#include "cache/pool/use_ring.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace vicinity {

void UseRing::Reserve(size_t num_more) {
  const size_t needed = end_ - begin_ + num_more;
  size_t num_uses = keys_.size();
  while (num_uses < needed) num_uses *= 2;
  if (num_uses > keys_.size()) Resize(num_uses);
}

void UseRing::Resize(size_t num_uses) {
  const std::vector<RowKey> keys = std::exchange(keys_, std::vector<RowKey>(num_uses));
  const std::vector<int32_t> slots = std::exchange(slots_, std::vector<int32_t>(num_uses));
  const std::vector<uint32_t> next = std::exchange(next_, std::vector<uint32_t>(num_uses));
  const std::vector<uint64_t> marks = std::exchange(marks_, std::vector<uint64_t>(num_uses / 64));
  const uint32_t old_mask = std::exchange(mask_, static_cast<uint32_t>(num_uses - 1));
  for (uint32_t p = begin_; p != end_; ++p) {
    keys_[p & mask_] = keys[p & old_mask];
    slots_[p & mask_] = slots[p & old_mask];
    next_[p & mask_] = next[p & old_mask];
    const uint64_t mark = marks[(p & old_mask) / 64] >> p % 64 & 1;
    marks_[(p & mask_) / 64] |= mark << p % 64;
  }
}

void UseRing::Unmark(uint32_t first, uint32_t last) {
  while (first != last) {
    const uint32_t bit = first % 64;
    const uint32_t num_bits = std::min(64 - bit, last - first);
    const uint64_t bits = num_bits == 64 ? ~uint64_t{0} : (uint64_t{1} << num_bits) - 1;
    marks_[(first & mask_) / 64] &= ~(bits << bit);
    first += num_bits;
  }
}

bool UseRing::TakeLastMarked(uint32_t first, uint32_t* position) {
  while (static_cast<int32_t>(marked_end_ - first) > 0) {
    const uint32_t last = marked_end_ - 1;
    uint64_t& word = marks_[(last & mask_) / 64];
    const uint64_t bits = word & (~uint64_t{0} >> (63 - last % 64));
    if (bits == 0) {
      marked_end_ = last - last % 64;
      continue;
    }
    const uint32_t bit = 63 - __builtin_clzll(bits);
    word &= ~(uint64_t{1} << bit);
    *position = last - last % 64 + bit;
    marked_end_ = *position;
    return true;
  }
  return false;
}

}  // namespace vicinity
