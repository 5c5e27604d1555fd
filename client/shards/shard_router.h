// Sends each question to the shards that know the answer, all at once, and puts the answers
// together.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "client/shards/call_context.h"
#include "client/shards/shard_access.h"
#include "partition/dataset/book.h"
#include "partition/dataset/ranking.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "sampler/minibatch_sampler.h"

namespace vicinity {

// Rows of one column for nodes of any shards.
struct ColumnFetch {
  NodeTypeId type;
  int32_t column = 0;               // position in the type, or kKeyColumn
  absl::Span<const int64_t> nodes;  // global ids, all in the book, repeats allowed
  // Row i goes to out + positions[i] * row bytes; no positions: to out + i * row bytes.
  absl::Span<const int64_t> positions;
  char* out = nullptr;
};

// In-degrees along one edge type.
struct DegreesFetch {
  EdgeTypeId edge_type;
  absl::Span<const int64_t> nodes;  // global ids of its target type, all in the book
  int64_t* out = nullptr;           // of each node
};

// Threads:  any number.
// Lifetime: schema and book must outlive it.
// Errors:   as ShardAccess; the first of those that came.
class ShardRouter {
 public:
  // One access for every shard of the book, in their order.
  // `rankings`: those that the dataset had when it was opened.
  ShardRouter(const Schema& schema, const Book& book,
              std::vector<std::unique_ptr<ShardAccess>> shards,
              std::vector<RankingHomes> rankings = {});

  const Schema& schema() const { return schema_; }
  const Book& book() const { return book_; }
  const std::vector<RankingHomes>& rankings() const { return rankings_; }
  bool IsLocal(ShardId shard) const { return !shards_[shard.value]->remote(); }
  ShardAccess& shard(ShardId shard) const { return *shards_[shard.value]; }

  // Bytes of one row.
  // What a column of the type is, or, for kKeyColumn, the user's integer ids: int64, "user_ids".
  ColumnSpec SpecOf(NodeTypeId type, int32_t column) const;
  int64_t RowBytes(NodeTypeId type, int32_t column) const;

  // All of them at the same time: one operation a shard and fetch. Nodes of fetches that follow
  // each other and have the same span are sorted by owner once.
  absl::Status FetchRows(absl::Span<const ColumnFetch> fetches, const CallContext& context) const;

  // In-degrees of nodes of any shards, all of them at the same time.
  absl::Status FetchDegrees(absl::Span<const DegreesFetch> fetches,
                            const CallContext& context) const;

 private:
  const Schema& schema_;
  const Book& book_;
  const std::vector<std::unique_ptr<ShardAccess>> shards_;
  const std::vector<RankingHomes> rankings_;
};

// The neighbours of one minibatch, from whichever shards own its nodes: at most one operation a
// shard and hop.
//
// Lifetime: router and cancellation must outlive it. Threads: one at a time.
class RoutedSource : public NeighborSource {
 public:
  RoutedSource(const ShardRouter& router, const MinibatchDraw& draw, const CallContext& context);
  absl::Status Sample(int hop, absl::Span<const RelationRequest> relations,
                      absl::Span<Neighbors> neighbors) override;
  absl::Status CountEdges(absl::Span<const RelationRequest> relations,
                          absl::Span<std::vector<int64_t>> degrees) override;

 private:
  const ShardRouter& router_;
  const MinibatchDraw draw_;
  const CallContext context_;
};

}  // namespace vicinity
