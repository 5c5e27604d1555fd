// A batch's nodes by where their rows are.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "client/shards/shard_router.h"
#include "proto/common/ids.h"

namespace vicinity {

// Those of one type, each with its position in the batch's tensors.
struct SplitNodes {
  // Local ones of one shard.
  struct Home {
    std::vector<int32_t> rows;       // local rows; HomeRows has no more than 2^31 - 1
    std::vector<int64_t> positions;  // of each row
  };

  std::vector<int64_t> local;  // global ids
  std::vector<int64_t> local_positions;
  std::vector<int64_t> remote;
  std::vector<int64_t> remote_positions;
  std::vector<Home> home;  // the local ones by shard, with `by_shard`; else empty

  int64_t size() const { return static_cast<int64_t>(local.size() + remote.size()); }
};

// Tells near from far. All lists in the order of `ids`, which are global and in the book.
// `by_shard`: a device wants the local ones' rows, once for all columns of the type.
SplitNodes NearAndFar(const ShardRouter& router, NodeTypeId type, absl::Span<const int64_t> ids,
                      bool by_shard);

}  // namespace vicinity
