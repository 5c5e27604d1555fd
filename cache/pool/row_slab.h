// Memory for rows by slot that grows without moving a row.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

namespace vicinity {

// Pieces of doubling size, so 32 pointers are enough for any slot and need no lock to be read.
//
// Threads: Grow by one at a time. Row() of a slot may be called by any thread that has the slot
//          from whoever grew the slab for it.
// Memory:  at most twice the rows asked for, rounded up to a piece of some pages; what was never
//          written to is not resident.
class RowSlab {
 public:
  explicit RowSlab(int64_t row_bytes) : row_bytes_(row_bytes) {}

  // Makes slots [0, num_rows) usable; never fewer than before. False if there is no memory for them
  // or slots could not number them; nothing changes then.
  bool Grow(int64_t num_rows);

  char* Row(int32_t slot) {
    const Place place = PlaceOf(slot);
    return pieces_[place.piece].get() + place.row * row_bytes_;
  }
  const char* Row(int32_t slot) const { return const_cast<RowSlab*>(this)->Row(slot); }

  int64_t num_rows() const { return num_rows_; }

 private:
  struct Place {
    int piece;
    int64_t row;
  };
  // Piece p holds kFirstRows << p rows, so the highest bit of slot + kFirstRows is bit
  // p + log2(kFirstRows).
  static Place PlaceOf(int32_t slot) {
    const uint64_t shifted = static_cast<uint64_t>(slot) + kFirstRows;
    const int top = 63 - __builtin_clzll(shifted);
    return {top - kFirstRowsLog2, static_cast<int64_t>(shifted - (uint64_t{1} << top))};
  }

  static constexpr int kFirstRowsLog2 = 6;
  static constexpr uint64_t kFirstRows = uint64_t{1} << kFirstRowsLog2;
  static constexpr int kPieces = 32 - kFirstRowsLog2;

  const int64_t row_bytes_;
  int64_t num_rows_ = 0;
  int num_pieces_ = 0;
  std::array<std::unique_ptr<char[]>, kPieces> pieces_;
};

}  // namespace vicinity
