// All edges of the graph between the nodes of a minibatch: SamplingSpec::subgraph.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "partition/dataset/book.h"
#include "partition/dataset/sampling_spec.h"
#include "partition/dataset/schema.h"
#include "sampler/excluded_edges.h"
#include "sampler/neighbor_source.h"
#include "sampler/sampled_graph.h"

namespace vicinity {

// Of one minibatch.
struct InducedRequest {
  const SamplingSpec& spec;  // fits the schema
  EdgeDetail detail;
  absl::Span<const int64_t> tree_times;  // of each tree, where the spec has a time_column
  const ExcludedEdges& excluded;         // are not among them
  // In-edges that are asked for at a time. Tests take few.
  int64_t edges_at_a_time = int64_t{1} << 20;
};

// Puts the edges into `graph`, whose nodes are sampled, in place of those that were drawn: what
// comes of it says sampler/sampled_graph.h. Exact, and the same for any cut: of a target the edges
// come in the order of its list.
//
// Cost:   every node's in-edges, along each edge type that is followed, are read once, and come
// over
//         the network where the node is remote: 8 bytes an edge, 16 with its id or its position, 24
//         with both, of edges that are kept as of those that are not. Before that the nodes'
//         degrees are asked for, one round. Nodes that several disjoint trees have are asked for
//         once; with a time_column once a tree. (A server that knew a batch's nodes could leave out
//         the edges that go. None does as yet: a request would have to bring all nodes to every
//         shard.)
// Memory: the edges that are kept, twice; and of in-edges that have come in and are not gone
//         through yet at most edges_at_a_time, or one node's where it has more, along all edge
//         types together (2^20: 24 MiB at most; a hub of 10^7 in-edges: 240 MB), up to twice where
//         several shards answer. Lists that grow meanwhile may exceed it.
// Errors: the source's; DataLoss for a neighbour that is not in the book, InvalidArgument for
//         answers that do not fit. `graph` is then to be thrown away.
absl::Status InduceEdges(const Schema& schema, const Book& book, const InducedRequest& request,
                         NeighborSource* source, SampledGraph* graph);

}  // namespace vicinity
