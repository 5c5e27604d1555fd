// Puts the hops of a minibatch together: gives each node a position when it is first met.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "partition/sampling_spec.h"
#include "partition/schema.h"
#include "proto/common/ids.h"
#include "sampler/one_hop.h"
#include "sampler/sampled_graph.h"

namespace vicinity {

// Order:   new nodes are numbered edge type by edge type, target by target, neighbour by neighbour,
//          so the result is the same wherever the neighbours were drawn.
// Threads: one at a time. Memory: bounded by the batch.
class GraphBuilder {
 public:
  GraphBuilder(const Schema& schema, Expansion expansion);

  // Begins a new graph; seeds may repeat.
  void Start(NodeTypeId seed_type, absl::Span<const int64_t> seeds);

  // What the current hop expands: global ids of one type.
  absl::Span<const int64_t> Frontier(NodeTypeId type) const;

  // The neighbours of Frontier(target type), in its order. Edge types of a hop in rising order, each
  // at most once. InvalidArgument if the counts do not match the frontier or the sources.
  absl::Status AddRelation(EdgeTypeId edge_type, const Neighbors& neighbors);

  // Ends the hop: what it met becomes part of the next frontier.
  void FinishHop();

  // Takes the graph; the builder can be Started again and reuses its memory.
  SampledGraph Take();

 private:
  // State as the implementation needs it.
};

}  // namespace vicinity
