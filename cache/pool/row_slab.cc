#include "cache/pool/row_slab.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <utility>

namespace vicinity {

bool RowSlab::Grow(int64_t num_rows) {
  if (num_rows > std::numeric_limits<int32_t>::max()) return false;
  while (num_rows_ < num_rows) {
    const int64_t piece_rows = static_cast<int64_t>(kFirstRows << num_pieces_);
    std::unique_ptr<char[]> piece(new (std::nothrow) char[piece_rows * row_bytes_]);
    if (piece == nullptr) return false;
    pieces_[num_pieces_++] = std::move(piece);
    num_rows_ += piece_rows;
  }
  return true;
}

}  // namespace vicinity
