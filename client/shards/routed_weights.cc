#include "client/shards/routed_weights.h"

#include <cstring>
#include <utility>

#include "absl/status/statusor.h"
#include "client/shards/edge_rows.h"
#include "client/types/graph_values.h"
#include "partition/schema/schema.h"
#include "proto/common/status.h"
#include "sampler/sampled_graph.h"

namespace vicinity {
namespace {

// As a minibatch of one hop; rows go by positions, so sources need only be as many.
SampledGraph AsGraph(const Schema& schema, EdgeTypeId edge_type, absl::Span<const int64_t> targets,
                     const Neighbors& drawn) {
  SampledGraph graph;
  graph.nodes.resize(schema.node_types.size());
  const int32_t type = schema.edge_types[edge_type.value].target_type;
  graph.nodes[type].ids.assign(targets.begin(), targets.end());
  Block block;
  block.edge_type = edge_type.value;
  block.offsets.push_back(0);
  for (const uint32_t count : drawn.counts) block.offsets.push_back(block.offsets.back() + count);
  block.sources.resize(drawn.sources.size());
  block.edge_positions = drawn.edge_positions;
  graph.hops.push_back({std::move(block)});
  return graph;
}

template <typename T>
T Read(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

double Value(const EdgeRows& rows, int64_t row) {
  const char* const bytes = rows.bytes.data() + row * rows.spec.row_bytes();
  if (rows.spec.dtype == DType::kFloat64) return Read<double>(bytes);
  return Read<float>(bytes);
}

}  // namespace

absl::Status RoutedWeights::FindWeights(EdgeTypeId edge_type, absl::Span<const int64_t> targets,
                                        const Neighbors& drawn, std::vector<double>* weights) {
  const Schema& schema = router_.schema();
  VICINITY_ASSIGN_OR_RETURN(
      const EdgeColumnPlan plan,
      FindEdgeColumn(schema, edge_type.value, schema.edge_types[edge_type.value].weight_column));
  VICINITY_ASSIGN_OR_RETURN(
      const std::vector<EdgeRows> rows,
      FetchEdgeRows(router_, AsGraph(schema, edge_type, targets, drawn), {plan}, context_));
  weights->clear();
  for (int64_t i = 0; i < rows.front().num_rows; ++i) weights->push_back(Value(rows.front(), i));
  return absl::OkStatus();
}

}  // namespace vicinity
