// Which inputs of a query take the seeds of a batch: what loaders, rankings and traces of answers
// begin with.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/query/query_steps.h"
#include "proto/common/ids.h"

namespace vicinity {

struct SeedInput {
  std::string name;
  NodeTypeId node_type{};  // of the nodes that it takes
};

// All inputs of the steps, in the order in which they first come. InvalidArgument for one that is
// for two node types.
absl::StatusOr<std::vector<SeedInput>> FindInputs(absl::Span<const ResolvedStep> steps);

// The only one. InvalidArgument, too, where there is none, or several.
absl::StatusOr<SeedInput> FindSeedInput(absl::Span<const ResolvedStep> steps);

}  // namespace vicinity
