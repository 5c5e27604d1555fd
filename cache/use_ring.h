// The uses of rows by the batches that are announced or in flight, in their order: what a planner
// knows of the future and of what is pinned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cache/row_index.h"

namespace vicinity {

// One mention of a row in a batch. The uses of a row are chained in their order.
struct RowUse {
  RowKey key;
  uint32_t next = 0;  // position of the row's next use; its own position: none is known
  int32_t slot = -1;  // of the row, with flags; what it means is the planner's
};

// Uses by position: a number that counts up for ever, modulo 2^32. A use can be marked, and the
// last of those that are is quick to find.
//
// Threads: one at a time. Memory: 17 to 34 bytes for each of the most uses there ever were at once.
class UseRing {
 public:
  static constexpr int64_t kMaxUses = int64_t{1} << 30;

  // `first`: of the positions, which may begin anywhere.
  explicit UseRing(uint32_t first)
      : uses_(kMinUses),
        marks_(kMinUses / 64),
        mask_(kMinUses - 1),
        begin_(first),
        end_(first),
        marked_end_(first) {}

  uint32_t begin() const { return begin_; }
  uint32_t end() const { return end_; }
  bool Contains(uint32_t position) const { return position - begin_ < end_ - begin_; }

  RowUse& operator[](uint32_t position) { return uses_[position & mask_]; }
  const RowUse& operator[](uint32_t position) const { return uses_[position & mask_]; }
  void Prefetch(uint32_t position) const { __builtin_prefetch(&uses_[position & mask_], 1); }

  // Room for `num_more` uses; the ring then Contains at most kMaxUses.
  void Reserve(size_t num_more);
  // A use of this row, unmarked, at position end(), which moves on; room was Reserved.
  RowUse& Append(RowKey key) {
    RowUse& use = uses_[end_ & mask_];
    use.key = key;
    use.next = end_++;
    return use;
  }
  // Forgets the uses before `position`; none of them is marked.
  void DropUntil(uint32_t position) {
    begin_ = position;
    if (marked_end_ - begin_ > end_ - begin_) marked_end_ = begin_;  // or it would look like ahead
  }

  void Mark(uint32_t position) {
    marks_[(position & mask_) / 64] |= uint64_t{1} << position % 64;
    if (static_cast<int32_t>(position - marked_end_) >= 0) marked_end_ = position + 1;
  }
  // Takes the marks off all uses of [first, last).
  void Unmark(uint32_t first, uint32_t last);
  // Unmarks the last use that is marked and gives its position; false: none is. All marks are in
  // [first, end()).
  bool TakeLastMarked(uint32_t first, uint32_t* position);

 private:
  static constexpr size_t kMinUses = 64;

  std::vector<RowUse> uses_;     // position p is at p & mask_
  std::vector<uint64_t> marks_;  // bit p & mask_
  uint32_t mask_;
  uint32_t begin_;
  uint32_t end_;
  uint32_t marked_end_;  // no marks from here on
};

}  // namespace vicinity
