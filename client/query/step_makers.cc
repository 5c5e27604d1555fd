#include "client/query/step_makers.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "client/query/step_rows.h"
#include "proto/common/random.h"
#include "proto/common/status.h"
#include "sampler/graph_builder.h"
#include "sampler/neighbor_source.h"
#include "sampler/one_hop.h"
#include "sampler/position_chooser.h"

namespace vicinity {
namespace {

// What edges are asked for beside their ends.
EdgeDetail DetailOf(const ResolvedStep& step) {
  const bool by_edges = step.order == OrderKind::kEdgeColumn || step.step.kind == StepKind::kLayer;
  return EdgeDetail(step.step.edge_ids, by_edges || !step.edge_columns.empty());
}

// Neighbours along the step's edge type; each target is a tree of its own, so that one that comes
// twice is drawn for apart.
absl::StatusOr<StepLists> Ask(const ShardRouter& router, const ResolvedStep& step,
                              const DrawSpec& spec, EdgeDetail detail,
                              absl::Span<const int64_t> targets, const StepDraw& draw,
                              const CallContext& context) {
  StepLists lists;
  lists.offsets.push_back(0);
  if (targets.empty()) return lists;
  std::vector<uint32_t> trees(targets.size());
  std::iota(trees.begin(), trees.end(), 0U);
  const RelationRequest request = {step.edge_type, spec, detail, targets, trees, {}, {}};
  RoutedSource source(router, draw.draw, context);
  Neighbors neighbors;
  VICINITY_RETURN_IF_ERROR(source.Sample(draw.step, {request}, absl::MakeSpan(&neighbors, 1)));
  VICINITY_RETURN_IF_ERROR(CheckDetail(detail, neighbors));
  VICINITY_RETURN_IF_ERROR(
      CheckNeighbors(router.schema(), router.book(), step.edge_type, targets.size(), neighbors));
  for (const uint32_t count : neighbors.counts) {
    lists.offsets.push_back(lists.offsets.back() + count);
  }
  lists.nodes = std::move(neighbors.sources);
  lists.edge_ids = std::move(neighbors.edge_ids);
  lists.edge_positions = std::move(neighbors.edge_positions);
  VICINITY_RETURN_IF_ERROR(CheckSize(step, static_cast<int64_t>(lists.nodes.size())));
  return lists;
}

DrawSpec WholeLists(const ResolvedStep& step) {
  DrawSpec spec;
  spec.fanout = kAllNeighbors;
  spec.where = step.edges_where;
  return spec;
}

// Of what is left of each list so many as the step draws: as servers draw of lists that have
// no others.
absl::StatusOr<Selection> DrawHere(const ShardRouter& router, const ResolvedStep& step,
                                   const Selection& left, absl::Span<const int64_t> targets,
                                   const StepDraw& draw, const CallContext& context) {
  const NodeTypeId type{router.schema().edge_types[step.edge_type.value].target_type};
  VICINITY_ASSIGN_OR_RETURN(const Rows keys,
                            FetchNodeRows(router, type, kKeyColumn, targets, context));
  PositionChooser chooser(step.step.count, step.step.replace, draw.Stream(step));
  Selection drawn;
  drawn.offsets.push_back(0);
  std::vector<int64_t> places;
  for (size_t i = 0; i < targets.size(); ++i) {
    const auto degree = static_cast<uint64_t>(left.offsets[i + 1] - left.offsets[i]);
    uint64_t key = 0;
    std::memcpy(&key, keys.bytes.data() + i * sizeof(key), sizeof(key));
    places.resize(chooser.CountFor(degree));
    chooser.Choose(left.offsets[i], degree, key, static_cast<uint32_t>(i), places.data());
    for (const int64_t place : places) drawn.positions.push_back(left.positions[place]);
    drawn.offsets.push_back(static_cast<int64_t>(drawn.positions.size()));
  }
  return drawn;
}

// The nodes of lists, each once, in the order in which they come first, and what all their edges
// weigh.
struct WeighedNodes {
  std::vector<int64_t> nodes;
  std::vector<double> weights;
};

double Weight(const Rows& rows, size_t row) {
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

// `rows`: of edges, their weights; none: each weighs 1.
WeighedNodes Weigh(const StepLists& lists, const std::optional<Rows>& rows) {
  WeighedNodes weighed;
  absl::flat_hash_map<int64_t, size_t> known;
  for (size_t i = 0; i < lists.nodes.size(); ++i) {
    const auto [at, is_new] = known.emplace(lists.nodes[i], weighed.nodes.size());
    if (is_new) {
      weighed.nodes.push_back(lists.nodes[i]);
      weighed.weights.push_back(0);
    }
    weighed.weights[at->second] += rows.has_value() ? Weight(*rows, i) : 1;
  }
  return weighed;
}

}  // namespace

uint64_t StepDraw::Stream(const ResolvedStep& of) const {
  DrawKey key;
  key.run_seed = draw.run_seed;
  key.epoch = draw.epoch;
  key.batch = draw.batch;
  key.hop = static_cast<uint32_t>(step);
  key.edge_type = of.edge_type.value;
  return StreamKey(key);
}

MinibatchDraw StepDraw::Own(const ResolvedStep& of) const {
  MinibatchDraw own = draw;
  own.run_seed = Stream(of);
  return own;
}

absl::Status CheckSize(const ResolvedStep& step, int64_t num_nodes) {
  if (num_nodes <= kMostStepNodes) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("step ", step.step.name, " has ", num_nodes, " nodes, at most ", kMostStepNodes,
                   ": draw fewer, or ask for a part of what it goes on from at a time"));
}

absl::StatusOr<StepLists> MakeNeighbors(const ShardRouter& router, const ResolvedStep& step,
                                        absl::Span<const int64_t> targets, const StepDraw& draw,
                                        const CallContext& context) {
  DrawSpec spec = WholeLists(step);
  if (!step.draws_here()) {
    spec.fanout = step.step.count;
    spec.replace = step.step.replace;
    spec.weighted = step.weighted();
  }
  VICINITY_ASSIGN_OR_RETURN(StepLists lists,
                            Ask(router, step, spec, DetailOf(step), targets, draw, context));
  if (!step.draws_here()) return lists;
  VICINITY_ASSIGN_OR_RETURN(
      const std::vector<uint8_t> meet,
      MeetCondition(router, step.node_type, *step.nodes_where, lists.nodes, context));
  Selection selection = SelectWhere(lists.offsets, meet);
  if (step.step.count != kAllNeighbors) {
    VICINITY_ASSIGN_OR_RETURN(selection, DrawHere(router, step, selection, targets, draw, context));
  }
  Take(selection, &lists);
  return lists;
}

absl::StatusOr<StepLists> MakeLayer(const ShardRouter& router, const ResolvedStep& step,
                                    absl::Span<const int64_t> targets, const StepDraw& draw,
                                    const CallContext& context, std::vector<double>* weights) {
  VICINITY_ASSIGN_OR_RETURN(const StepLists lists, Ask(router, step, WholeLists(step),
                                                       DetailOf(step), targets, draw, context));
  std::optional<Rows> rows;
  if (step.weighted()) {
    VICINITY_ASSIGN_OR_RETURN(const EdgeColumnPlan column,
                              FindEdgeColumn(router.schema(), step.edge_type.value, step.step.by));
    VICINITY_ASSIGN_OR_RETURN(rows, FetchStepEdgeRows(router, column, targets, lists, context));
  }
  WeighedNodes weighed = Weigh(lists, rows);
  std::vector<double> sums;
  double sum = 0;
  for (double& weight : weighed.weights) {
    if (step.step.square_root) weight = std::sqrt(weight);
    sums.push_back(sum += weight);
  }
  StepLists layer;
  layer.offsets = {0, 0};
  if (!(sum > 0)) return layer;
  for (int64_t i = 0; i < step.step.count; ++i) {
    NodeDraws draws(draw.Stream(step), static_cast<uint64_t>(i));
    const double at = static_cast<double>(draws.Next64() >> 11) * 0x1p-53 * sum;
    const auto drawn = std::min<size_t>(
        std::upper_bound(sums.begin(), sums.end(), at) - sums.begin(), sums.size() - 1);
    layer.nodes.push_back(weighed.nodes[drawn]);
    weights->push_back(weighed.weights[drawn]);
  }
  layer.offsets.back() = step.step.count;
  return layer;
}

absl::Status PutInOrder(const ShardRouter& router, const ResolvedStep& step,
                        absl::Span<const int64_t> targets, const CallContext& context,
                        StepLists* lists) {
  if (step.order == OrderKind::kNone && step.step.limit < 0) return absl::OkStatus();
  std::optional<OrderValues> values;
  if (step.order == OrderKind::kEdgeColumn) {
    VICINITY_ASSIGN_OR_RETURN(
        const Rows rows,
        FetchStepEdgeRows(router, {step.edge_type, step.order_column}, targets, *lists, context));
    values.emplace(rows.spec, absl::Span<const char>(rows.bytes.data(), rows.bytes.size()));
  } else if (step.order != OrderKind::kNone) {
    const int32_t column = step.order == OrderKind::kId ? kKeyColumn : step.order_column;
    VICINITY_ASSIGN_OR_RETURN(const Rows rows,
                              FetchNodeRows(router, step.node_type, column, lists->nodes, context));
    values.emplace(rows.spec, absl::Span<const char>(rows.bytes.data(), rows.bytes.size()));
  }
  const OrderValues* const order = values.has_value() ? &*values : nullptr;
  Take(SelectFirst(lists->offsets, order, step.step.descending, step.step.limit), lists);
  return absl::OkStatus();
}

}  // namespace vicinity
