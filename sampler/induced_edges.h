// All edges of the graph between the nodes of a minibatch: SamplingSpec::subgraph.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "partition/dataset/book.h"
#include "partition/schema/condition.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "sampler/excluded_edges.h"
#include "sampler/neighbor_source.h"
#include "sampler/sampled_graph.h"

namespace vicinity {

// Of one minibatch.
struct InducedRequest {
  const SamplingSpec& spec;  // fits the schema
  EdgeDetail detail;
  const ExcludedEdges& excluded;  // are not among them
  // In-edges that are asked for at a time. Tests take few.
  int64_t edges_at_a_time = int64_t{1} << 20;
  // Of each edge type what its edges meet; null, or none of them at all: all are there.
  absl::Span<const std::shared_ptr<const RowCondition>> conditions{};
  absl::Span<const TimeBounds> tree_times{};  // of each tree, where the spec has a time_column
};

// Puts the edges into `graph`, whose nodes are sampled, in place of those that were drawn: what
// comes of it says sampler/sampled_graph.h. Exact, and the same for any cut: of a target the edges
// come in the order of its list.
//
// Cost:   every node's in-edges, along each edge type that is followed, are read once. Where the
//         node is remote they come over the network, those that are not kept as well: 8 bytes an
//         edge, 16 with its id or its position, 24 with both. The nodes' degrees are asked for
//         before, in one round. A node of several disjoint trees is asked for once, with a
//         time_column once a tree. (A server that knew the batch's nodes could leave out what
//         goes. None does as yet: each request would have to bring them all.)
// Memory: the edges that are kept, twice. Of in-edges that have come and are not gone through yet
//         at most edges_at_a_time, along all edge types together; or one node's where it has more,
//         since a list is asked for whole. They take 12 to 28 bytes each, 20 to 52 where several
//         shards answer: 2^20 of them at most 52 MiB, one hub of 10^7 in-edges ten times that.
//         Lists that grow meanwhile may exceed it.
// Errors: the source's; DataLoss for a neighbour that is not in the book, InvalidArgument for
//         answers that do not fit. `graph` is then to be thrown away.
absl::Status InduceEdges(const Schema& schema, const Book& book, const InducedRequest& request,
                         NeighborSource* source, SampledGraph* graph);

}  // namespace vicinity
