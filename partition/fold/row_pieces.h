// Rows of shards in pieces that several threads work on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "proto/common/ids.h"

namespace vicinity {

// Rows [begin, end) of the nodes of one type in a shard, or of the targets of an edge type.
struct RowPiece {
  ShardId shard;
  int32_t type;
  int64_t begin;
  int64_t end;
};

inline void AddPieces(ShardId shard, int32_t type, int64_t num_rows,
                      std::vector<RowPiece>* pieces) {
  // Enough for the start of a piece to vanish in the work, few enough to be held as numbers.
  constexpr int64_t kRowsAPiece = int64_t{1} << 13;
  for (int64_t begin = 0; begin < num_rows; begin += kRowsAPiece) {
    pieces->push_back({shard, type, begin, std::min(begin + kRowsAPiece, num_rows)});
  }
}

}  // namespace vicinity
