#include "client/query/step_rows.h"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "partition/schema/schema.h"
#include "proto/common/status.h"
#include "sampler/rules/condition_filter.h"
#include "sampler/sampled_graph.h"

namespace vicinity {
namespace {

// As a minibatch of one hop, as far as rows of edges go by it: sources need only be as many.
SampledGraph AsGraph(const Schema& schema, EdgeTypeId type, absl::Span<const int64_t> targets,
                     const StepLists& lists) {
  SampledGraph graph;
  graph.nodes.resize(schema.node_types.size());
  graph.nodes[schema.edge_types[type.value].target_type].ids.assign(targets.begin(), targets.end());
  Block block;
  block.edge_type = type.value;
  block.offsets = lists.offsets;
  block.sources.resize(lists.nodes.size());
  block.edge_positions = lists.edge_positions;
  graph.hops.push_back({std::move(block)});
  return graph;
}

double Weight(const Rows& rows, int64_t row) {
  const char* const bytes = rows.bytes.data() + row * rows.spec.row_bytes();
  if (rows.spec.dtype == DType::kFloat64) {
    double value = 0;
    std::memcpy(&value, bytes, sizeof(value));
    return value;
  }
  float value = 0;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

}  // namespace

UniqueNodes Unique(absl::Span<const int64_t> given) {
  UniqueNodes unique;
  unique.places.reserve(given.size());
  absl::flat_hash_map<int64_t, int64_t> known;
  for (const int64_t node : given) {
    const auto [at, is_new] = known.emplace(node, static_cast<int64_t>(unique.nodes.size()));
    if (is_new) unique.nodes.push_back(node);
    unique.places.push_back(at->second);
  }
  return unique;
}

absl::StatusOr<Rows> FetchNodeRows(const ShardRouter& router, NodeTypeId type, int32_t column,
                                   absl::Span<const int64_t> nodes, const CallContext& context) {
  Rows rows;
  rows.spec = router.SpecOf(type, column);
  rows.num_rows = static_cast<int64_t>(nodes.size());
  rows.bytes.resize(rows.num_rows * rows.spec.row_bytes());
  const ColumnFetch fetch{type, column, nodes, {}, rows.bytes.data()};
  VICINITY_RETURN_IF_ERROR(router.FetchRows({fetch}, context));
  return rows;
}

absl::StatusOr<Rows> FetchStepEdgeRows(const ShardRouter& router, const EdgeColumnPlan& column,
                                       absl::Span<const int64_t> targets, const StepLists& lists,
                                       const CallContext& context) {
  const SampledGraph graph = AsGraph(router.schema(), column.type, targets, lists);
  VICINITY_ASSIGN_OR_RETURN(std::vector<EdgeRows> fetched,
                            FetchEdgeRows(router, graph, {column}, context));
  Rows rows;
  rows.spec = std::move(fetched.front().spec);
  rows.num_rows = fetched.front().num_rows;
  rows.bytes = std::move(fetched.front().bytes);
  return rows;
}

absl::StatusOr<std::vector<double>> FetchStepWeights(const ShardRouter& router,
                                                     const ResolvedStep& step,
                                                     absl::Span<const int64_t> targets,
                                                     const StepLists& lists,
                                                     const CallContext& context) {
  VICINITY_ASSIGN_OR_RETURN(const EdgeColumnPlan column,
                            FindEdgeColumn(router.schema(), step.edge_type.value, step.step.by));
  VICINITY_ASSIGN_OR_RETURN(const Rows rows,
                            FetchStepEdgeRows(router, column, targets, lists, context));
  std::vector<double> weights;
  weights.reserve(rows.num_rows);
  for (int64_t i = 0; i < rows.num_rows; ++i) {
    weights.push_back(Weight(rows, i));
    if (std::isfinite(weights.back()) && weights.back() >= 0) continue;
    return absl::DataLossError(absl::StrCat("an edge has weight ", weights.back()));
  }
  return weights;
}

absl::StatusOr<std::vector<uint8_t>> MeetCondition(const ShardRouter& router, NodeTypeId type,
                                                   const RowCondition& condition,
                                                   absl::Span<const int64_t> nodes,
                                                   const CallContext& context) {
  const UniqueNodes unique = Unique(nodes);
  ConditionFilter filter(condition);
  std::vector<RowBuffer> columns(filter.columns().size());
  std::vector<ColumnFetch> fetches;
  std::vector<const char*> values;
  for (size_t i = 0; i < columns.size(); ++i) {
    const int32_t column = filter.columns()[i];
    columns[i].resize(unique.nodes.size() * router.RowBytes(type, column));
    fetches.push_back({type, column, unique.nodes, {}, columns[i].data()});
    values.push_back(columns[i].data());
  }
  VICINITY_RETURN_IF_ERROR(router.FetchRows(fetches, context));
  const absl::Span<const uint8_t> meet =
      filter.Evaluate(values, static_cast<int64_t>(unique.nodes.size()));
  std::vector<uint8_t> of_given;
  of_given.reserve(nodes.size());
  for (const int64_t place : unique.places) of_given.push_back(meet[place]);
  return of_given;
}

}  // namespace vicinity
