#include "client/query/induced_maker.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "client/shards/edge_rows.h"
#include "partition/schema/condition.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "proto/common/status.h"
#include "sampler/excluded_edges.h"
#include "sampler/induced_edges.h"
#include "sampler/sampled_graph.h"

namespace vicinity {
namespace {

// The nodes, each once, and all edges of the step's type between them.
absl::StatusOr<SampledGraph> Induce(const ShardRouter& router, const ResolvedStep& step,
                                    absl::Span<const TypedSeeds> among, const StepDraw& draw,
                                    const CallContext& context) {
  const Schema& schema = router.schema();
  const size_t num_types = schema.edge_types.size();
  GraphBuilder builder(schema, router.book());
  VICINITY_RETURN_IF_ERROR(builder.Start(Expansion::kAllNodes, among));
  SampledGraph graph = builder.Take();
  SamplingSpec spec;
  spec.subgraph = Subgraph::kInduced;
  spec.fanouts = {std::vector<int64_t>(num_types, 0)};  // only one edge type is followed
  spec.fanouts[0][step.edge_type.value] = kAllNeighbors;
  std::vector<std::shared_ptr<const RowCondition>> conditions(num_types);
  conditions[step.edge_type.value] = step.edges_where;
  const ExcludedEdges none;
  InducedRequest request{spec, EdgeDetail(step.step.edge_ids, step.needs_edge_rows()), none};
  request.conditions = conditions;
  RoutedSource source(router, draw.draw, context);
  VICINITY_RETURN_IF_ERROR(InduceEdges(schema, router.book(), request, &source, &graph));
  return graph;
}

void TakeEdges(const Block& block, StepAnswer* answer) {
  answer->edge_index.assign(block.sources.begin(), block.sources.end());
  for (int64_t target = 0; target < block.num_targets(); ++target) {
    answer->edge_index.insert(answer->edge_index.end(),
                              block.offsets[target + 1] - block.offsets[target], target);
  }
}

}  // namespace

absl::Status MakeInduced(const ShardRouter& router, const ResolvedStep& step,
                         absl::Span<const TypedSeeds> among, const StepDraw& draw,
                         const CallContext& context, StepAnswer* answer) {
  VICINITY_RETURN_IF_ERROR(CheckSize(step, CountSeeds(among)));
  VICINITY_ASSIGN_OR_RETURN(SampledGraph graph, Induce(router, step, among, draw, context));
  VICINITY_RETURN_IF_ERROR(CheckSize(step, graph.num_edges()));
  const EdgeTypeSpec& ends = router.schema().edge_types[step.edge_type.value];
  VICINITY_ASSIGN_OR_RETURN(std::vector<EdgeRows> fetched,
                            FetchEdgeRows(router, graph, step.edge_columns, context));
  for (size_t i = 0; i < step.edge_columns.size(); ++i) {
    Rows& rows = answer->edge_columns.emplace_back();
    rows.spec = ends.columns[step.edge_columns[i].column];
    if (fetched.empty()) continue;  // there are no targets
    rows.num_rows = fetched[i].num_rows;
    rows.bytes = std::move(fetched[i].bytes);
  }
  for (Block& block : graph.hops.front()) {  // one, if there are targets
    TakeEdges(block, answer);
    answer->edge_ids = std::move(block.edge_ids);
  }
  answer->targets = graph.nodes[ends.target_type].ids;
  answer->nodes = std::move(graph.nodes[ends.source_type].ids);
  answer->offsets = {0, static_cast<int64_t>(answer->nodes.size())};
  return absl::OkStatus();
}

}  // namespace vicinity
