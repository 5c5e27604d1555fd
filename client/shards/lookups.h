// From the user's ids to nodes and back, the nodes of a split, and stored rankings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/shards/call_context.h"
#include "client/shards/shard_router.h"
#include "partition/dataset/ranking.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "sampler/edge_finder.h"

namespace vicinity {

// InvalidArgument naming a node or edge type number that the schema does not have.
absl::Status CheckNodeType(const Schema& schema, int32_t node_type);

// InvalidArgument naming the type and up to ten of the ids that are not in the book.
absl::Status CheckNodes(const ShardRouter& router, NodeTypeId type,
                        absl::Span<const int64_t> nodes);

// One answer for every id, -1 for those that no node has. InvalidArgument if the type's ids are
// strings.
absl::StatusOr<std::vector<int64_t>> ResolveIntegers(const ShardRouter& router, NodeTypeId type,
                                                     absl::Span<const int64_t> user_ids,
                                                     const CallContext& context = StartOperation());

// Likewise for types whose ids are strings.
absl::StatusOr<std::vector<int64_t>> ResolveNames(const ShardRouter& router, NodeTypeId type,
                                                  absl::Span<const std::string> user_ids);

// The user's ids of nodes in the book; InvalidArgument for the wrong kind of type.
absl::StatusOr<std::vector<int64_t>> IntegersOf(const ShardRouter& router, NodeTypeId type,
                                                absl::Span<const int64_t> nodes);
absl::StatusOr<std::vector<std::string>> NamesOf(const ShardRouter& router, NodeTypeId type,
                                                 absl::Span<const int64_t> nodes);

// Global ids of the nodes of a split (kNone: of all) that `shards` own, in the order of their keys.
// NotFound if the type has no split column; InvalidArgument naming a shard that does not exist.
// Cost: reads a byte a node of the shards, and a key a node found.
absl::StatusOr<std::vector<int64_t>> NodesOfSplit(const ShardRouter& router, NodeTypeId type,
                                                  Split split, absl::Span<const int32_t> shards);

// The first `count` (0: all) of a stored ranking. InvalidArgument if `home` is not rising shard
// numbers; else as Ranking::Open.
absl::StatusOr<RankedNodes> FetchRanking(const ShardRouter& router, const std::string& name,
                                         absl::Span<const int32_t> home, NodeTypeId type,
                                         int64_t count);

// Of each node (in the book, of the edge type's target type) how many in-edges of the type it has.
absl::StatusOr<std::vector<int64_t>> DegreesOf(const ShardRouter& router, EdgeTypeId edge_type,
                                               absl::Span<const int64_t> nodes);

// Of each pair of nodes in the book (of the edge type's source and target type, as many of each)
// the id of the edge that joins them, -1 where none does; of parallel ones that which comes first
// in the target's list. InvalidArgument naming the ids that are not in the book. It reads the list
// of every target.
absl::StatusOr<std::vector<int64_t>> EdgeIdsOf(const ShardRouter& router, EdgeTypeId edge_type,
                                               absl::Span<const int64_t> sources,
                                               absl::Span<const int64_t> targets,
                                               const CallContext& context = StartOperation());

// The values of an integer column for nodes in the book, widened. InvalidArgument if the column is
// no integer scalar.
absl::StatusOr<std::vector<int64_t>> IntegerColumn(const ShardRouter& router, NodeTypeId type,
                                                   int32_t column, absl::Span<const int64_t> nodes);

// Likewise of an integer or floating column, of 32 or 64 bits, as doubles: integers beyond 2^53
// are rounded.
absl::StatusOr<std::vector<double>> NumberColumn(const ShardRouter& router, NodeTypeId type,
                                                 int32_t column, absl::Span<const int64_t> nodes);

// Where a column is among those of its node type. NotFound naming the ones there are.
absl::StatusOr<int32_t> FindNodeColumn(const NodeTypeSpec& type, const std::string& column);

// A node in the book by its user's id, for people: "7", or "'ada'"; its global id if a shard is
// away.
std::string UserIdText(const ShardRouter& router, NodeTypeId type, int64_t node);

// ... for walks.
//
// Lifetime: router and cancellation must outlive it. Threads: one at a time.
class RoutedFinder : public EdgeFinder {
 public:
  RoutedFinder(const ShardRouter& router, const CallContext& context);
  absl::Status FindEdges(EdgeTypeId edge_type, absl::Span<const int64_t> sources,
                         absl::Span<const int64_t> targets, std::vector<bool>* joined) override;

 private:
  const ShardRouter& router_;
  const CallContext context_;
};

}  // namespace vicinity
