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
#include "partition/dataset/alias_table.h"
#include "proto/common/random.h"
#include "proto/common/status.h"
#include "sampler/graph_builder.h"
#include "sampler/neighbor_source.h"
#include "sampler/one_hop.h"
#include "sampler/position_chooser.h"
#include "sampler/weighted_chooser.h"

namespace vicinity {
namespace {

// What edges are asked for beside their ends.
EdgeDetail DetailOf(const ResolvedStep& step) {
  return EdgeDetail(step.step.edge_ids, step.needs_edge_rows());
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

absl::StatusOr<std::vector<uint64_t>> KeysOf(const ShardRouter& router, const ResolvedStep& step,
                                             absl::Span<const int64_t> targets,
                                             const CallContext& context) {
  const NodeTypeId type{router.schema().edge_types[step.edge_type.value].target_type};
  VICINITY_ASSIGN_OR_RETURN(const Rows rows,
                            FetchNodeRows(router, type, kKeyColumn, targets, context));
  std::vector<uint64_t> keys(targets.size());
  if (!keys.empty()) std::memcpy(keys.data(), rows.bytes.data(), keys.size() * sizeof(uint64_t));
  return keys;
}

// Of what is left of each list so many as the step draws: as servers draw of lists that have
// no others.
Selection DrawAlike(const ResolvedStep& step, const Selection& left,
                    absl::Span<const uint64_t> keys, uint64_t stream) {
  PositionChooser chooser(step.step.count, step.step.replace, stream);
  Selection drawn;
  drawn.offsets.push_back(0);
  std::vector<int64_t> places;
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto degree = static_cast<uint64_t>(left.offsets[i + 1] - left.offsets[i]);
    places.resize(chooser.CountFor(degree));
    chooser.Choose(left.offsets[i], degree, keys[i], static_cast<uint32_t>(i), places.data());
    for (const int64_t place : places) drawn.positions.push_back(left.positions[place]);
    drawn.offsets.push_back(static_cast<int64_t>(drawn.positions.size()));
  }
  return drawn;
}

// Likewise by weight. Whole lists get the tables that their shard's files have, so that chances are
// those of a server that leaves out the same edges, to the last bit. `weights`: of all edges.
Selection DrawByWeight(const ResolvedStep& step, const StepLists& whole, const Selection& left,
                       absl::Span<const uint64_t> keys, absl::Span<const double> weights,
                       uint64_t stream) {
  UnitsChooser chooser(step.step.count, step.step.replace, stream);
  AliasBuilder tables;
  std::vector<AliasEntry> table;
  std::vector<uint64_t> units;
  std::vector<uint64_t> units_left;
  std::vector<int64_t> places;
  Selection drawn;
  drawn.offsets.push_back(0);
  for (size_t i = 0; i < keys.size(); ++i) {
    const int64_t begin = whole.offsets[i];
    table.resize(whole.offsets[i + 1] - begin);
    tables.Fill(weights.subspan(begin, table.size()), absl::MakeSpan(table));
    AliasUnits(table, &units);
    const absl::Span<const int64_t> positions =
        absl::MakeConstSpan(left.positions)
            .subspan(left.offsets[i], left.offsets[i + 1] - left.offsets[i]);
    units_left.clear();
    for (const int64_t position : positions) units_left.push_back(units[position - begin]);
    chooser.Choose(units_left, keys[i], static_cast<uint32_t>(i), &places);
    for (const int64_t place : places) drawn.positions.push_back(positions[place]);
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

// `weights`: of edges; empty: each weighs 1.
WeighedNodes Weigh(const StepLists& lists, absl::Span<const double> weights) {
  WeighedNodes weighed;
  absl::flat_hash_map<int64_t, size_t> known;
  for (size_t i = 0; i < lists.nodes.size(); ++i) {
    const auto [at, is_new] = known.emplace(lists.nodes[i], weighed.nodes.size());
    if (is_new) {
      weighed.nodes.push_back(lists.nodes[i]);
      weighed.weights.push_back(0);
    }
    weighed.weights[at->second] += weights.empty() ? 1 : weights[i];
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
    VICINITY_ASSIGN_OR_RETURN(const std::vector<uint64_t> keys,
                              KeysOf(router, step, targets, context));
    if (step.weighted()) {
      VICINITY_ASSIGN_OR_RETURN(const std::vector<double> weights,
                                FetchStepWeights(router, step, targets, lists, context));
      selection = DrawByWeight(step, lists, selection, keys, weights, draw.Stream(step));
    } else {
      selection = DrawAlike(step, selection, keys, draw.Stream(step));
    }
  }
  Take(selection, &lists);
  return lists;
}

absl::StatusOr<StepLists> MakeLayer(const ShardRouter& router, const ResolvedStep& step,
                                    absl::Span<const int64_t> targets, const StepDraw& draw,
                                    const CallContext& context, std::vector<double>* weights) {
  VICINITY_ASSIGN_OR_RETURN(const StepLists lists, Ask(router, step, WholeLists(step),
                                                       DetailOf(step), targets, draw, context));
  std::vector<double> of_edges;
  if (step.weighted()) {
    VICINITY_ASSIGN_OR_RETURN(of_edges, FetchStepWeights(router, step, targets, lists, context));
  }
  WeighedNodes weighed = Weigh(lists, of_edges);
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
