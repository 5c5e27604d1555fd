// Rows that have changed, those that were read last, so that most need not be asked of the store.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "partition/overlay/row_blocks.h"

namespace vicinity {

// Each part of a shard has slots for its rows. Once all together take as many bytes as they may, a
// part that needs another uses its own again, in turn: a slot tells whose row it has now.
//
// Threads: one may keep rows; readers exclude it.
class HotRows {
  struct Slots;

 public:
  static constexpr int64_t kNone = -1;

  // Whose row, and of which version.
  using Owner = std::pair<uint64_t, uint64_t>;

  explicit HotRows(int64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  // Of one part, for who looks for many of its rows. Lives until the next Keep.
  class Part {
   public:
    // Asks for memory ahead of Find.
    void Prefetch(int64_t slot) const;
    // Null: the slot has another's row by now, or is kNone. Lives until the next Keep.
    const char* Find(int64_t slot, const Owner& owner) const;

   private:
    friend class HotRows;
    const Slots* slots_;  // null: it has none
  };
  Part PartOf(uint64_t part) const;
  // The slot that has the row now, kNone if its part has none. All rows of a part have one width.
  int64_t Keep(uint64_t part, const Owner& owner, std::string_view row);
  int64_t bytes() const { return bytes_; }

 private:
  struct Slots {
    RowBlocks rows;
    std::vector<Owner> owners{};
    int64_t next = 0;  // to be used again
  };

  const int64_t limit_bytes_;
  int64_t bytes_ = 0;
  absl::flat_hash_map<uint64_t, Slots> parts_;
};

}  // namespace vicinity
