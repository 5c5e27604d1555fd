// What a sampling spec's condition (SamplingSpec::where) means for each edge type.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "partition/schema/condition.h"
#include "partition/schema/schema.h"

namespace vicinity {

// Of each edge type, for its columns; null for one that has not all the columns that the condition
// names, and for all where `where` is empty: their edges are taken as they are. InvalidArgument if
// it is no condition (ParseCondition), or for a column that has more than one value a row.
absl::StatusOr<std::vector<std::shared_ptr<const RowCondition>>> ResolveByEdgeType(
    const Schema& schema, absl::string_view where);

}  // namespace vicinity
