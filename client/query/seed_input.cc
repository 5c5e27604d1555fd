#include "client/query/seed_input.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/common/status.h"

namespace vicinity {

absl::StatusOr<std::vector<SeedInput>> FindInputs(absl::Span<const ResolvedStep> steps) {
  std::vector<SeedInput> inputs;
  for (const ResolvedStep& step : steps) {
    if (step.step.input.empty()) continue;
    const auto known = std::find_if(inputs.begin(), inputs.end(), [&](const SeedInput& input) {
      return input.name == step.step.input;
    });
    if (known == inputs.end()) {
      inputs.push_back({step.step.input, step.node_type});
    } else if (known->node_type.value != step.node_type.value) {
      return absl::InvalidArgumentError(
          absl::StrCat("the query has the input $", known->name,
                       " for two node types: a batch's seeds go to an input of one node type"));
    }
  }
  return inputs;
}

absl::StatusOr<SeedInput> FindSeedInput(absl::Span<const ResolvedStep> steps) {
  VICINITY_ASSIGN_OR_RETURN(std::vector<SeedInput> inputs, FindInputs(steps));
  if (inputs.empty()) {
    return absl::InvalidArgumentError(
        "the query has no input that takes a batch's seeds: begin it with NAME = nodes(TYPE, "
        "$seeds)");
  }
  if (inputs.size() == 1) return std::move(inputs.front());
  return absl::InvalidArgumentError(absl::StrCat(
      "the query has the inputs $",
      absl::StrJoin(inputs, ", $",
                    [](std::string* out, const SeedInput& input) { *out += input.name; }),
      ": a batch's nodes go to one input"));
}

}  // namespace vicinity
