// The nodes that a kNodes step takes or draws from the whole graph.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "client/negatives/candidate_nodes.h"
#include "client/query/query_steps.h"
#include "client/shards/call_context.h"
#include "client/shards/shard_router.h"

namespace vicinity {

// Threads:  immutable; any number may use it.
// Lifetime: the router must outlive it.
// Memory:   8 bytes a node, those that are not drawn from and meet no condition left out; 8 more
//           where chances differ. Of all nodes of a type with dense ids that are drawn alike, none.
class NodePool {
 public:
  // Of a step without input. Errors as ResolveIntegers, CandidateNodes and ShardRouter. NotFound
  // naming ids that the graph does not have. Cost: keys of all nodes are read, or, with a
  // condition, of those that meet it, which servers find; and the column of `by`.
  static absl::StatusOr<NodePool> Make(const ShardRouter& router, const ResolvedStep& step,
                                       const CallContext& context);

  int64_t size() const;  // how many nodes those are
  // Of how many nodes values were read to find those of the whole graph that meet the condition;
  // of the others stored indexes told.
  int64_t num_read() const { return num_read_; }
  // Those of the step: all, or `count` draws, with replacement, of this stream; none if there are
  // none.
  absl::StatusOr<std::vector<int64_t>> Nodes(uint64_t stream, const CallContext& context) const;

 private:
  NodePool() = default;

  int64_t count_ = 0;  // draws; kAllNeighbors: none, all are taken
  int64_t num_read_ = 0;
  std::vector<int64_t> listed_;               // in the order of the ids given, or of keys
  std::optional<CandidateNodes> candidates_;  // drawn from, in the place of listed_
};

}  // namespace vicinity
