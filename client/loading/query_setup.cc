#include "client/loading/query_setup.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "client/loading/loader_setup.h"
#include "client/loading/ranked_draws.h"
#include "client/loading/seed_list.h"
#include "client/types/seed_values.h"
#include "partition/dataset/ranking.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

bool IsDefault(const SamplingSpec& spec) {
  return spec.fanouts.empty() && spec.subgraph == SamplingSpec().subgraph &&
         DrawsApart(SamplingSpec(), spec).empty();
}

// For an error: fanouts, and what draws otherwise than by default.
std::string ThatAreDrawn(const SamplingSpec& spec) {
  const std::string apart = DrawsApart(SamplingSpec(), spec);
  if (apart.empty()) return "fanouts, and how they are drawn,";
  return absl::StrCat("fanouts, and how they are drawn (by default ", apart, "),");
}

// The first takes the sources, the second the targets.
absl::StatusOr<std::vector<SeedInput>> InputsOfLinks(const Schema& schema,
                                                     absl::Span<const ResolvedStep> steps,
                                                     const LinkList& links) {
  VICINITY_ASSIGN_OR_RETURN(const std::vector<NodeTypeId> types, TypesOfLinks(schema, links));
  VICINITY_ASSIGN_OR_RETURN(std::vector<SeedInput> inputs, FindInputs(steps));
  if (inputs.size() != types.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the seeds are links, and the query has ", inputs.size(),
        " inputs: the first takes their sources, the second their targets, and there are no more"));
  }
  for (size_t end = 0; end < types.size(); ++end) {
    if (inputs[end].node_type.value == types[end].value) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the ", end == 0 ? "sources" : "targets", " of links of ", links.edge_type,
                     " are nodes of type ", schema.node_types[types[end].value].name,
                     ", and the query's input $", inputs[end].name, " takes ",
                     schema.node_types[inputs[end].node_type.value].name,
                     ": inputs are taken in the order in which they first stand in the query"));
  }
  return inputs;
}

// A plan of the same pool; the first alone counts what it keeps.
ColumnPlan Sharing(const ColumnPlan& made, int32_t list, bool is_first) {
  ColumnPlan plan;
  plan.type = made.type;
  plan.column = made.column;
  plan.list = list;
  plan.pool = made.pool;
  if (is_first) plan.cache_rows = made.cache_rows;
  return plan;
}

}  // namespace

absl::Status CheckQueryLoaderOptions(const ShardRouter& router, const LoaderOptions& options) {
  const std::string drawn = ThatAreDrawn(options.sampling);
  for (const auto& [what, is_given] :
       {std::pair(drawn.c_str(), !IsDefault(options.sampling)),
        std::pair("columns", !options.columns.empty()),
        std::pair("edge_columns", !options.edge_columns.empty()),
        std::pair("edge_ids", options.edge_ids), std::pair("user_ids", options.user_ids),
        std::pair("exclude", options.exclude != LinkExclusion::kNone),
        std::pair("negatives", options.negatives.mode != NegativeMode::kNone),
        std::pair("placement on a device", options.placement != Placement::kHost)}) {
    if (!is_given) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        what,
        " are not for a loader of a query's answers: its steps say what is drawn and what "
        "comes, and its rows are on the host"));
  }
  return CheckLoadingOptions(router, options);
}

absl::StatusOr<std::vector<SeedInput>> InputsOfSeeds(const Schema& schema,
                                                     absl::Span<const ResolvedStep> steps,
                                                     const LoaderOptions& given) {
  if (const auto* const links = std::get_if<LinkList>(&given.seeds); links != nullptr) {
    return InputsOfLinks(schema, steps, *links);
  }
  VICINITY_ASSIGN_OR_RETURN(SeedInput input, FindSeedInput(steps));
  const std::string& type = schema.node_types[input.node_type.value].name;
  if (given.seed_type.empty() || given.seed_type == type) {
    return std::vector<SeedInput>{std::move(input)};
  }
  return absl::InvalidArgumentError(absl::StrCat("seed_type is ", given.seed_type,
                                                 ", and the query's input $", input.name,
                                                 " takes nodes of type ", type));
}

LoaderOptions OptionsOfQuery(const Schema& schema, absl::Span<const ResolvedStep> steps,
                             absl::Span<const SeedInput> inputs, const LoaderOptions& given) {
  LoaderOptions options = given;
  if (inputs.size() == 1) {
    options.seed_type = schema.node_types[inputs.front().node_type.value].name;
  }
  std::set<std::pair<int32_t, int32_t>> known;
  for (const ResolvedStep& step : steps) {
    const NodeTypeSpec& type = schema.node_types[step.node_type.value];
    for (const int32_t column : step.columns) {
      if (!known.emplace(step.node_type.value, column).second) continue;
      options.columns.push_back({type.name, type.columns[column].name});
    }
  }
  return options;
}

std::vector<ColumnPlan> ColumnsOfSteps(absl::Span<const ResolvedStep> steps,
                                       absl::Span<const ColumnPlan> made) {
  std::vector<ColumnPlan> plans;
  std::set<const ColumnPlan*> counted;
  for (size_t i = 0; i < steps.size(); ++i) {
    for (const int32_t column : steps[i].columns) {
      const auto* const of_column =
          std::find_if(made.begin(), made.end(), [&](const ColumnPlan& plan) {
            return plan.type.value == steps[i].node_type.value && plan.column == column;
          });
      plans.push_back(
          Sharing(*of_column, static_cast<int32_t>(i), counted.insert(of_column).second));
    }
  }
  return plans;
}

std::string MadeForMinibatches(const ShardRouter& router, const std::string& ranking) {
  for (const RankingHomes& made : router.rankings()) {
    if (made.name == ranking && !made.draws.fanouts.empty()) return ", made for minibatches";
  }
  return "";
}

}  // namespace vicinity
