#include "sampler/minibatch_sampler.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/schema/edge_conditions.h"
#include "proto/common/random.h"
#include "proto/common/status.h"
#include "sampler/induced_edges.h"

namespace vicinity {
namespace {

// In the place of a hop's number.
constexpr uint32_t kAllHops = UINT32_MAX;

absl::Status CheckTimes(const SamplingSpec& spec, absl::Span<const TypedSeeds> seeds) {
  for (const TypedSeeds& list : seeds) {
    if (spec.time_column.empty() && list.times.empty()) continue;
    if (spec.time_column.empty()) {
      return absl::InvalidArgumentError("seeds have times, and no time_column says what of");
    }
    if (list.times.size() != list.ids.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          list.times.size(), " times for ", list.ids.size(),
          " seeds: sampling by time (time_column ", spec.time_column, ") needs one for each"));
    }
  }
  return absl::OkStatus();
}

TreeRules TreesOf(const SamplingSpec& spec) {
  TreeRules trees;
  trees.disjoint = spec.disjoint;
  trees.by_time = !spec.time_column.empty();
  trees.window = spec.time_window;
  trees.follow_path = spec.time_follows == TimeFollows::kPath;
  return trees;
}

}  // namespace

uint64_t LayerStream(const MinibatchDraw& draw, int hop, NodeTypeId source_type,
                     const DrawSpec& spec) {
  DrawKey key;
  key.run_seed = draw.run_seed;
  key.epoch = draw.epoch;
  key.batch = draw.batch / std::max<uint64_t>(1, spec.batch_dependency);
  key.hop = spec.layer_dependency ? kAllHops : static_cast<uint32_t>(hop);
  key.edge_type = std::numeric_limits<int32_t>::min() + source_type.value;  // none of an edge type
  return StreamKey(key);
}

OneHopOptions OptionsOf(const Schema& schema, const MinibatchDraw& draw, int hop,
                        EdgeTypeId edge_type, const DrawSpec& spec, EdgeDetail detail) {
  DrawKey key;
  key.run_seed = draw.run_seed;
  key.epoch = draw.epoch;
  key.batch = draw.batch;
  key.hop = static_cast<uint32_t>(hop);
  key.edge_type = edge_type.value;
  OneHopOptions options;
  static_cast<DrawSpec&>(options) = spec;
  options.want_edge_ids = detail.ids;
  options.want_edge_positions = detail.positions;
  options.want_edge_times = detail.times && spec.time_column >= 0;
  const EdgeTypeSpec& type = schema.edge_types[edge_type.value];
  options.in_time_order =
      spec.time_column >= 0 && type.columns[spec.time_column].name == type.time_order;
  const NodeTypeId source_type{schema.edge_types[edge_type.value].source_type};
  options.stream = DrawsByLayer(spec) ? LayerStream(draw, hop, source_type, spec) : StreamKey(key);
  return options;
}

MinibatchSampler::MinibatchSampler(const Schema& schema, const Book& book)
    : schema_(schema), book_(book), builder_(schema, book) {}

absl::StatusOr<SampledGraph> MinibatchSampler::Sample(const SamplingSpec& spec,
                                                      NodeTypeId seed_type,
                                                      absl::Span<const int64_t> seeds,
                                                      EdgeDetail detail, NeighborSource* source) {
  return Sample(spec, {TypedSeeds{seed_type, {seeds.begin(), seeds.end()}}}, detail, source);
}

absl::StatusOr<SampledGraph> MinibatchSampler::Sample(const SamplingSpec& spec,
                                                      absl::Span<const TypedSeeds> seeds,
                                                      EdgeDetail detail, NeighborSource* source,
                                                      const ExcludedEdges& excluded) {
  if (const std::string problem = SpecProblem(schema_, spec); !problem.empty()) {
    return absl::InvalidArgumentError(problem);
  }
  VICINITY_RETURN_IF_ERROR(CheckTimes(spec, seeds));
  VICINITY_RETURN_IF_ERROR(ResolveWhere(spec));
  VICINITY_RETURN_IF_ERROR(builder_.Start(spec.expansion, seeds, TreesOf(spec)));
  const bool induced = spec.subgraph == Subgraph::kInduced;
  const EdgeDetail of_drawn = induced ? EdgeDetail() : detail;  // of an induced sample they go
  for (int hop = 0; hop < spec.num_hops(); ++hop) {
    if (absl::Status status = SampleHop(spec, hop, of_drawn, source, excluded); !status.ok()) {
      return At(absl::StrCat("hop ", hop), status);
    }
  }
  const std::vector<TimeBounds> tree_times = builder_.TreeTimes();
  SampledGraph graph = builder_.Take();
  if (!induced) return graph;
  InducedRequest request{spec, detail, excluded};
  request.conditions = conditions_;
  request.tree_times = tree_times;
  const absl::Status status = InduceEdges(schema_, book_, request, source, &graph);
  if (!status.ok()) return At("induced edges", status);
  return graph;
}

// From batch to batch it is the same.
absl::Status MinibatchSampler::ResolveWhere(const SamplingSpec& spec) {
  if (!conditions_.empty() && where_ == spec.where) return absl::OkStatus();
  VICINITY_ASSIGN_OR_RETURN(conditions_, ResolveByEdgeType(schema_, spec.where));
  where_ = spec.where;
  return absl::OkStatus();
}

absl::Status MinibatchSampler::SampleHop(const SamplingSpec& spec, int hop, EdgeDetail detail,
                                         NeighborSource* source, const ExcludedEdges& excluded) {
  relations_.clear();
  for (size_t type = 0; type < schema_.edge_types.size(); ++type) {
    RelationRequest relation;
    relation.edge_type = {static_cast<int32_t>(type)};
    relation.spec.fanout = spec.fanouts[hop][type];
    relation.spec.replace = spec.replace;
    relation.spec.weighted = IsWeighted(schema_, spec, static_cast<int>(type));
    relation.spec.time_column = TimeColumnOf(schema_, spec, static_cast<int>(type));
    relation.spec.last =
        relation.spec.time_column >= 0 && spec.temporal_strategy == TemporalStrategy::kLast;
    relation.spec.where = conditions_[type];
    relation.spec.labor = spec.draws == Draws::kLabor;
    relation.spec.layer_dependency = spec.layer_dependency;
    relation.spec.batch_dependency = static_cast<uint64_t>(spec.batch_dependency);
    relation.detail = detail;
    relation.detail.times =
        spec.time_follows == TimeFollows::kPath && relation.spec.time_column >= 0;
    relation.targets = builder_.Frontier({schema_.edge_types[type].target_type});
    relation.trees = builder_.FrontierTrees({schema_.edge_types[type].target_type});
    relation.times = builder_.FrontierTimes({schema_.edge_types[type].target_type});
    if (relation.spec.fanout != 0 && !relation.targets.empty()) relations_.push_back(relation);
  }
  VICINITY_RETURN_IF_ERROR(AddExcluded(excluded, absl::MakeSpan(relations_), &excluded_));
  if (!relations_.empty()) {
    if (neighbors_.size() < relations_.size()) neighbors_.resize(relations_.size());
    const absl::Span<Neighbors> answers = absl::MakeSpan(neighbors_).subspan(0, relations_.size());
    for (Neighbors& answer : answers) answer.Clear();
    VICINITY_RETURN_IF_ERROR(source->Sample(hop, relations_, answers));
    for (size_t i = 0; i < relations_.size(); ++i) {
      VICINITY_RETURN_IF_ERROR(CheckDetail(relations_[i].detail, answers[i]));
      VICINITY_RETURN_IF_ERROR(builder_.AddRelation(relations_[i].edge_type, answers[i]));
    }
  }
  builder_.FinishHop();
  return absl::OkStatus();
}

}  // namespace vicinity
