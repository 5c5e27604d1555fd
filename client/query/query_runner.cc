#include "client/query/query_runner.h"

#include <cstddef>
#include <cstring>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/query/induced_maker.h"
#include "client/query/query_cost.h"
#include "client/query/step_lists.h"
#include "client/query/step_rows.h"
#include "client/query/walk_makers.h"
#include "client/shards/lookups.h"
#include "client/types/row_buffer.h"
#include "proto/common/status.h"
#include "sampler/graph_builder.h"

namespace vicinity {
namespace {

absl::Status InStep(const ResolvedStep& step, const absl::Status& status) {
  if (status.ok()) return status;
  const std::string name = absl::StrCat("step ", step.step.name);
  if (absl::StartsWith(status.message(), name)) return status;
  return absl::Status(status.code(), absl::StrCat(name, ": ", status.message()));
}

StepLists OneList(std::vector<int64_t> nodes) {
  StepLists lists;
  lists.offsets = {0, static_cast<int64_t>(nodes.size())};
  lists.nodes = std::move(nodes);
  return lists;
}

// Rows of a step whose lists have the same nodes: they come over the wire once, and are copied to
// every list here.
struct RowsOnce {
  UniqueNodes unique;
  std::vector<RowBuffer> columns;

  void Start(const StepAnswer& step) {
    unique = Unique(step.nodes);
    columns.resize(step.columns.size());
    for (size_t k = 0; k < columns.size(); ++k) {
      columns[k].resize(unique.nodes.size() * step.columns[k].spec.row_bytes());
    }
  }
  void CopyTo(StepAnswer* step) const {
    for (size_t k = 0; k < columns.size(); ++k) {
      const auto row_bytes = static_cast<size_t>(step->columns[k].spec.row_bytes());
      if (row_bytes == 0) continue;
      char* to = step->columns[k].bytes.data();
      for (const int64_t place : unique.places) {
        std::memcpy(to, columns[k].data() + place * row_bytes, row_bytes);
        to += row_bytes;
      }
    }
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<QueryRunner>> QueryRunner::Make(const ShardRouter& router,
                                                               const Query& query,
                                                               const CallContext& context) {
  VICINITY_ASSIGN_OR_RETURN(std::vector<ResolvedStep> steps, ResolveQuery(router.schema(), query));
  std::unique_ptr<QueryRunner> runner(new QueryRunner(router, std::move(steps)));
  for (const ResolvedStep& step : runner->steps_) {
    absl::StatusOr<Kept> kept = runner->Keep(step, context);
    if (!kept.ok()) return InStep(step, kept.status());
    runner->kept_.push_back(*std::move(kept));
  }
  return runner;
}

absl::StatusOr<QueryRunner::Kept> QueryRunner::Keep(const ResolvedStep& step,
                                                    const CallContext& context) const {
  Kept kept;
  if (step.step.kind == StepKind::kNodes && step.step.input.empty()) {
    VICINITY_ASSIGN_OR_RETURN(kept.pool, NodePool::Make(router_, step, context));
  }
  if (step.step.kind == StepKind::kNegatives) {
    std::vector<SameValue> same;
    for (size_t i = 0; i < step.step.same.size(); ++i) {
      same.push_back({step.step.same[i], step.step.shares[i]});
    }
    NegativeOptions options;
    options.mode = NegativeMode::kTriplet;
    options.amount = static_cast<double>(step.step.count);
    options.exact = step.step.exact;
    options.degree_power = step.step.degree_power;
    options.shared = step.step.shared;
    options.weight_column = step.step.by;
    VICINITY_ASSIGN_OR_RETURN(kept.negatives,
                              NegativeSampler::Make(router_, step.edge_type, options, {}, same));
  }
  return kept;
}

absl::Status QueryRunner::CheckInputs(const InputSizes& sizes) const {
  std::set<std::string> known;
  for (const ResolvedStep& step : steps_) {
    const std::string& input = step.step.input;
    if (input.empty()) continue;
    known.insert(input);
    const auto given = sizes.find(input);
    if (given == sizes.end()) {
      return InStep(
          step, absl::InvalidArgumentError(absl::StrCat("the input $", input, " is not given")));
    }
    VICINITY_RETURN_IF_ERROR(CheckSize(step, given->second));
  }
  for (const auto& [name, size] : sizes) {
    if (known.count(name) > 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the input ", name, " is given, but no step has $", name));
  }
  return absl::OkStatus();
}

absl::StatusOr<QueryAnswer> QueryRunner::Run(const QueryInputs& inputs, const MinibatchDraw& draw,
                                             const CallContext& context) const {
  VICINITY_ASSIGN_OR_RETURN(QueryAnswer answer, RunSteps(inputs, draw, context));
  VICINITY_RETURN_IF_ERROR(FetchColumns(context, &answer));
  return answer;
}

absl::StatusOr<QueryAnswer> QueryRunner::RunSteps(const QueryInputs& inputs,
                                                  const MinibatchDraw& draw,
                                                  const CallContext& context) const {
  InputSizes sizes;
  for (const auto& [name, ids] : inputs) sizes[name] = static_cast<int64_t>(ids.size());
  VICINITY_RETURN_IF_ERROR(CheckInputs(sizes));
  QueryAnswer answer;
  answer.steps.resize(steps_.size());
  for (size_t i = 0; i < steps_.size(); ++i) {
    const StepDraw own = {draw, static_cast<int32_t>(i)};
    VICINITY_RETURN_IF_ERROR(InStep(steps_[i], RunStep(i, inputs, own, context, &answer)));
  }
  return answer;
}

absl::StatusOr<std::vector<StepCost>> QueryRunner::Foretell(const InputSizes& sizes,
                                                            const CallContext& context) const {
  VICINITY_RETURN_IF_ERROR(CheckInputs(sizes));
  std::vector<KnownStep> known(steps_.size());
  for (size_t i = 0; i < steps_.size(); ++i) {
    const QueryStep& step = steps_[i].step;
    if (step.kind != StepKind::kNodes) continue;
    const std::optional<NodePool>& pool = kept_[i].pool;
    known[i].num_nodes = pool.has_value() ? pool->size() : sizes.at(step.input);
    if (pool.has_value()) known[i].num_read = pool->num_read();
  }
  return ForetellCost(router_, steps_, known, context);
}

absl::StatusOr<StepLists> QueryRunner::MakeNodes(size_t number, const QueryInputs& inputs,
                                                 const StepDraw& draw,
                                                 const CallContext& context) const {
  const ResolvedStep& step = steps_[number];
  if (step.step.input.empty()) {
    VICINITY_ASSIGN_OR_RETURN(std::vector<int64_t> nodes,
                              kept_[number].pool->Nodes(draw.Stream(step), context));
    return OneList(std::move(nodes));
  }
  const std::vector<int64_t>& given = inputs.at(step.step.input);
  VICINITY_RETURN_IF_ERROR(CheckNodes(router_, step.node_type, given));
  StepLists lists = OneList(given);
  if (step.nodes_where == nullptr) return lists;
  VICINITY_ASSIGN_OR_RETURN(
      const std::vector<uint8_t> meet,
      MeetCondition(router_, step.node_type, *step.nodes_where, lists.nodes, context));
  Take(SelectWhere(lists.offsets, meet), &lists);
  return lists;
}

absl::StatusOr<StepLists> QueryRunner::MakeNegatives(size_t number,
                                                     absl::Span<const int64_t> sources,
                                                     absl::Span<const int64_t> targets,
                                                     const StepDraw& draw,
                                                     const CallContext& context) const {
  const ResolvedStep& step = steps_[number];
  StepLists lists;
  for (size_t i = 0; i <= sources.size(); ++i) {
    lists.offsets.push_back(static_cast<int64_t>(i) * step.step.count);
  }
  VICINITY_RETURN_IF_ERROR(CheckSize(step, lists.offsets.back()));
  if (sources.empty()) return lists;
  VICINITY_ASSIGN_OR_RETURN(
      std::vector<TypedSeeds> drawn,
      kept_[number].negatives->Draw(sources, draw.Own(step), context, targets));
  lists.nodes = std::move(drawn.front().ids);
  return lists;
}

absl::Status QueryRunner::RunStep(size_t number, const QueryInputs& inputs, const StepDraw& draw,
                                  const CallContext& context, QueryAnswer* answer) const {
  const ResolvedStep& step = steps_[number];
  StepAnswer& made = answer->steps[number];
  made.name = step.step.name;
  made.kind = step.step.kind;
  made.node_type = step.node_type.value;
  absl::Span<const int64_t> before;
  if (step.from >= 0) before = answer->steps[step.from].nodes;
  StepLists lists;
  switch (step.step.kind) {
    case StepKind::kNodes: {
      VICINITY_ASSIGN_OR_RETURN(lists, MakeNodes(number, inputs, draw, context));
      break;
    }
    case StepKind::kNeighbors: {
      VICINITY_ASSIGN_OR_RETURN(lists, MakeNeighbors(router_, step, before, draw, context));
      break;
    }
    case StepKind::kNegatives: {
      absl::Span<const int64_t> like;
      if (step.like >= 0) like = answer->steps[step.like].nodes;
      VICINITY_ASSIGN_OR_RETURN(lists, MakeNegatives(number, before, like, draw, context));
      break;
    }
    case StepKind::kLayer: {
      VICINITY_ASSIGN_OR_RETURN(lists,
                                MakeLayer(router_, step, before, draw, context, &made.weights));
      break;
    }
    case StepKind::kWalk: {
      VICINITY_ASSIGN_OR_RETURN(lists, MakeWalks(router_, step, before, draw, context, &made));
      break;
    }
    case StepKind::kVisited: {
      VICINITY_ASSIGN_OR_RETURN(lists,
                                MakeVisited(router_, step, before, draw, context, &made.counts));
      break;
    }
    case StepKind::kInduced:
      return MakeInducedStep(number, draw, context, answer);
    case StepKind::kPpr: {
      VICINITY_ASSIGN_OR_RETURN(lists, MakePpr(router_, step, before, draw, context, &made));
      break;
    }
  }
  VICINITY_RETURN_IF_ERROR(PutInOrder(router_, step, before, context, &lists));
  for (const EdgeColumnPlan& column : step.edge_columns) {
    VICINITY_ASSIGN_OR_RETURN(Rows rows,
                              FetchStepEdgeRows(router_, column, before, lists, context));
    made.edge_columns.push_back(std::move(rows));
  }
  made.offsets = std::move(lists.offsets);
  made.nodes = std::move(lists.nodes);
  made.edge_ids = std::move(lists.edge_ids);
  return absl::OkStatus();
}

absl::Status QueryRunner::MakeInducedStep(size_t number, const StepDraw& draw,
                                          const CallContext& context, QueryAnswer* answer) const {
  std::vector<TypedSeeds> among;
  for (const int32_t other : steps_[number].among) {
    among.push_back({steps_[other].node_type, answer->steps[other].nodes});
  }
  return MakeInduced(router_, steps_[number], among, draw, context, &answer->steps[number]);
}

absl::Status QueryRunner::FetchColumns(const CallContext& context, QueryAnswer* answer) const {
  std::vector<ColumnFetch> fetches;
  std::vector<RowsOnce> once(steps_.size());
  for (size_t i = 0; i < steps_.size(); ++i) {
    StepAnswer& step = answer->steps[i];
    for (const int32_t column : steps_[i].columns) {
      Rows& rows = step.columns.emplace_back();
      rows.spec = router_.SpecOf(steps_[i].node_type, column);
      rows.num_rows = static_cast<int64_t>(step.nodes.size());
      rows.bytes.resize(rows.num_rows * rows.spec.row_bytes());
    }
    const bool each_once = steps_[i].shares_negatives() && !step.columns.empty();
    if (each_once) once[i].Start(step);
    for (size_t k = 0; k < step.columns.size(); ++k) {
      fetches.push_back({steps_[i].node_type,
                         steps_[i].columns[k],
                         each_once ? once[i].unique.nodes : step.nodes,
                         {},
                         each_once ? once[i].columns[k].data() : step.columns[k].bytes.data()});
    }
  }
  VICINITY_RETURN_IF_ERROR(router_.FetchRows(fetches, context));
  for (size_t i = 0; i < steps_.size(); ++i) once[i].CopyTo(&answer->steps[i]);
  return absl::OkStatus();
}

}  // namespace vicinity
