// The hop loop of a minibatch, once for everybody: a process that maps every shard, and a client
// whose neighbours come from several servers at a time, differ only in the NeighborSource.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partition/dataset/book.h"
#include "partition/schema/condition.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "sampler/excluded_edges.h"
#include "sampler/graph_builder.h"
#include "sampler/neighbor_source.h"
#include "sampler/one_hop.h"
#include "sampler/rules/draw_spec.h"
#include "sampler/sampled_graph.h"

namespace vicinity {

// Which draws a minibatch makes: the same values give the same minibatch.
struct MinibatchDraw {
  uint64_t run_seed = 0;
  uint64_t epoch = 0;
  uint64_t batch = 0;
};

// How SampleOneHop is to draw along one edge type in one hop; the trees are for the caller to add.
OneHopOptions OptionsOf(const Schema& schema, const MinibatchDraw& draw, int hop,
                        EdgeTypeId edge_type, const DrawSpec& spec, EdgeDetail detail);

// LABOR's stream for sources of a type, whichever edge type leads from them: StreamKey of the run's
// seed, the epoch, the batch divided by `batch_dependency`, the hop (with `layer_dependency`
// 2^32 - 1), and, in the place of an edge type, -2^31 + the node type.
uint64_t LayerStream(const MinibatchDraw& draw, int hop, NodeTypeId source_type,
                     const DrawSpec& spec);

// Threads:  one at a time; keep one a thread, it reuses its memory from batch to batch.
// Lifetime: schema and book must outlive it.
// Memory:   bounded by the batch.
class MinibatchSampler {
 public:
  MinibatchSampler(const Schema& schema, const Book& book);

  // The minibatch around `seeds`, any number of lists, which may be empty. InvalidArgument: the
  // spec does not fit the schema, seeds lack the times that it asks for, or naming the first seed
  // out of range. DataLoss: a neighbour out
  // of range. Else what the source said.
  absl::StatusOr<SampledGraph> Sample(const SamplingSpec& spec, absl::Span<const TypedSeeds> seeds,
                                      EdgeDetail detail, NeighborSource* source,
                                      const ExcludedEdges& excluded = {});
  // ... of one type.
  absl::StatusOr<SampledGraph> Sample(const SamplingSpec& spec, NodeTypeId seed_type,
                                      absl::Span<const int64_t> seeds, EdgeDetail detail,
                                      NeighborSource* source);

 private:
  absl::Status ResolveWhere(const SamplingSpec& spec);
  absl::Status SampleHop(const SamplingSpec& spec, int hop, EdgeDetail detail,
                         NeighborSource* source, const ExcludedEdges& excluded);

  const Schema& schema_;
  const Book& book_;
  GraphBuilder builder_;
  std::vector<RelationRequest> relations_;           // of the current hop
  std::vector<std::vector<ExcludedEdge>> excluded_;  // of each relation
  // Of each edge type the condition of the spec with this one.
  std::string where_;
  std::vector<std::shared_ptr<const RowCondition>> conditions_;
  std::vector<Neighbors> neighbors_;  // answers, by relation
};

}  // namespace vicinity
