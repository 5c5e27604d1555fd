// The uses of rows by the batches that are announced or in flight, in their order: what a planner
// knows of the future and of what is pinned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cache/pool/row_index.h"

namespace vicinity {

// Uses by position: a number that counts up for ever, modulo 2^32. A use is one mention of a row in
// a batch; it has the row's key, a slot whose meaning is the planner's, and the position of the
// row's next use. A use can be marked, and the last of those that are is quick to find.
//
// Threads: one at a time. Memory: 16 to 33 bytes for each of the most uses there ever were at once.
class UseRing {
 public:
  static constexpr int64_t kMaxUses = int64_t{1} << 30;

  // `first`: of the positions, which may begin anywhere.
  explicit UseRing(uint32_t first) : begin_(first), end_(first), marked_end_(first) {
    Resize(kMinUses);
  }

  uint32_t begin() const { return begin_; }
  uint32_t end() const { return end_; }
  bool Contains(uint32_t position) const { return position - begin_ < end_ - begin_; }

  RowKey key(uint32_t position) const { return keys_[position & mask_]; }
  int32_t slot(uint32_t position) const { return slots_[position & mask_]; }
  void set_slot(uint32_t position, int32_t slot) { slots_[position & mask_] = slot; }
  // The position of the row's next use; the same position: none is known.
  uint32_t next(uint32_t position) const { return next_[position & mask_]; }
  void set_next(uint32_t position, uint32_t next) { next_[position & mask_] = next; }
  void PrefetchSlot(uint32_t position) const { __builtin_prefetch(&slots_[position & mask_], 1); }
  void PrefetchNext(uint32_t position) const { __builtin_prefetch(&next_[position & mask_], 1); }

  // Room for `num_more` uses; the ring then Contains at most kMaxUses.
  void Reserve(size_t num_more);
  // A use, unmarked and without a next one, at position end(), which moves on; room was Reserved.
  void Append(RowKey key, int32_t slot) {
    keys_[end_ & mask_] = key;
    slots_[end_ & mask_] = slot;
    next_[end_ & mask_] = end_;
    ++end_;
  }
  // Forgets the uses before `position`; none of them is marked.
  void DropUntil(uint32_t position) {
    begin_ = position;
    if (marked_end_ - begin_ > end_ - begin_) marked_end_ = begin_;  // or it would look like ahead
  }

  // Without a branch.
  void MarkIf(bool wanted, uint32_t position) {
    marks_[(position & mask_) / 64] |= uint64_t{wanted} << position % 64;
    const bool is_last = wanted && static_cast<int32_t>(position - marked_end_) >= 0;
    marked_end_ = is_last ? position + 1 : marked_end_;
  }
  // Takes the marks off all uses of [first, last).
  void Unmark(uint32_t first, uint32_t last);
  // Unmarks the last use that is marked and gives its position; false: none is. All marks are in
  // [first, end()).
  bool TakeLastMarked(uint32_t first, uint32_t* position);

 private:
  static constexpr size_t kMinUses = 64;

  void Resize(size_t num_uses);

  // What belongs to position p is at p & mask_.
  std::vector<RowKey> keys_;
  std::vector<int32_t> slots_;
  std::vector<uint32_t> next_;
  std::vector<uint64_t> marks_;  // a bit each
  uint32_t mask_ = 0;
  uint32_t begin_;
  uint32_t end_;
  uint32_t marked_end_;  // no marks from here on
};

}  // namespace vicinity
