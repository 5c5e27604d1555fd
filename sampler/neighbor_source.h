// Who a minibatch asks for neighbours, and how.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "proto/common/ids.h"
#include "sampler/excluded_edges.h"
#include "sampler/one_hop.h"
#include "sampler/rules/draw_spec.h"
#include "sampler/sampled_graph.h"

namespace vicinity {

// What one hop asks along one edge type.
struct RelationRequest {
  EdgeTypeId edge_type;
  DrawSpec spec;
  EdgeDetail detail;
  // Global ids of the edge type's target type, never empty, all in the book; those of one target
  // type are the same for its relations.
  absl::Span<const int64_t> targets;
  absl::Span<const uint32_t> trees;         // of each target; empty: not disjoint
  absl::Span<const ExcludedEdge> excluded;  // by rising target
  absl::Span<const TimeBounds> times;       // of each target; empty: no draws by time
};

// Whoever knows neighbours. One object draws one minibatch: it knows the MinibatchDraw.
class NeighborSource {
 public:
  virtual ~NeighborSource() = default;

  // Answers all relations of a hop at once, so that a remote source can ask every owner in
  // parallel. `neighbors` comes with one empty element a relation, to be filled in the order of its
  // targets. An error ends the minibatch and is passed up as it is.
  virtual absl::Status Sample(int hop, absl::Span<const RelationRequest> relations,
                              absl::Span<Neighbors> neighbors) = 0;

  // How many edges of its type lead to each target of a relation, whatever else the relation says:
  // degrees[i] comes empty, to be filled in the order of relations[i].targets. Likewise all at
  // once.
  virtual absl::Status CountEdges(absl::Span<const RelationRequest> relations,
                                  absl::Span<std::vector<int64_t>> degrees) = 0;
};

// Gives each relation those of `all` that lead to its targets; `kept` holds them. InvalidArgument
// where disjoint trees have more than ExcludedEdges::kMost.
absl::Status AddExcluded(const ExcludedEdges& all, absl::Span<RelationRequest> relations,
                         std::vector<std::vector<ExcludedEdge>>* kept);

// InvalidArgument unless each neighbour of an answer has the detail that was asked for, and no
// other.
absl::Status CheckDetail(EdgeDetail detail, const Neighbors& answer);

}  // namespace vicinity
