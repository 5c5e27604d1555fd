// Nodes that share a value: what conditional negatives are drawn from.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/negatives/candidate_nodes.h"
#include "client/shards/call_context.h"
#include "client/shards/shard_router.h"

namespace vicinity {

// Threads:  immutable; any number may read.
// Lifetime: the router must outlive it.
// Memory:   16 bytes a node, and 100 a value.
class ValuePools {
 public:
  // Of `all`, by a column of theirs with one value a row. NotFound naming the columns there are;
  // InvalidArgument for another column, or nodes that are too many to be listed. Cost: the column
  // is read.
  static absl::StatusOr<ValuePools> Make(const ShardRouter& router, const CandidateNodes& all,
                                         const std::string& column, const CallContext& context);

  const std::string& column() const { return column_; }

  // Of each node of the type (in the book) those that have its value, by its bytes, with the
  // chances that they have among all; null: none has a chance. Cost: one operation a shard.
  absl::StatusOr<std::vector<const CandidateNodes*>> PoolsOf(absl::Span<const int64_t> nodes,
                                                             const CallContext& context) const;

 private:
  ValuePools(const ShardRouter& router, NodeTypeId type, std::string column)
      : router_(&router), type_(type), column_(std::move(column)) {}

  // Of nodes in the book.
  absl::StatusOr<std::vector<uint64_t>> ValuesOf(absl::Span<const int64_t> nodes,
                                                 const CallContext& context) const;

  const ShardRouter* router_;
  NodeTypeId type_;
  std::string column_;
  int32_t number_ = -1;  // of the column
  absl::flat_hash_map<uint64_t, CandidateNodes> by_value_;
};

}  // namespace vicinity
