// How many rows the shards of a live graph have for their nodes: asked of them, and kept, since
// there are only ever more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/shards/call_context.h"
#include "client/shards/shard_router.h"
#include "partition/dataset/book.h"
#include "proto/common/ids.h"
#include "proto/common/mutex.h"

namespace vicinity {

// Threads:  any number.
// Lifetime: router and book must outlive it.
// Memory:   8 bytes a shard and node type.
class NodeCounts {
 public:
  // `book` grows.
  NodeCounts(const ShardRouter& router, const Book& book);

  // Of each node (in the book) 1 if there is, or has been, one of this id, else 0. Asks those
  // shards, all at once, that are not known to have come so far.
  absl::StatusOr<std::vector<char>> AreThere(NodeTypeId type, absl::Span<const int64_t> nodes,
                                             const CallContext& context);

  // Ids of nodes that there are: of new ones, which need not be asked for then. -1 is none.
  void OnNew(NodeTypeId type, absl::Span<const int64_t> nodes);

 private:
  int64_t& CountOf(NodeTypeId type, ShardId shard) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return counts_[static_cast<size_t>(type.value) * book_.num_shards() + shard.value];
  }
  // Of shards which do not have one of the nodes, as far as is known.
  std::vector<ShardId> UnknownOf(NodeTypeId type, absl::Span<const int64_t> nodes);

  const ShardRouter& router_;
  const Book& book_;
  Mutex mu_;
  std::vector<int64_t> counts_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vicinity
