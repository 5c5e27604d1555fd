// Which column of each node type a model reads.
#pragma once

#include <string>
#include <vector>

#include "client/types/result.h"
#include "partition/schema/schema.h"

namespace vicinity {

// One entry for each node type: the position of its feature column, -1 for a type without.
//
// With `column` given: that column, wherever it exists. Else the only column of a type that is
// neither its label nor its split. At least one type has one. Errors list the columns that exist:
// kNotFound if `column` is nowhere, or if there is no feature column at all; kInvalidArgument for a
// type with several to choose from.
Result<std::vector<int>> ChooseFeatureColumns(const Schema& schema, const std::string& column);

// The type to train on: `name`, or where it is empty the only type that has a split and labels.
// kNotFound for an unknown type, or where no type has both; kInvalidArgument if several have.
Result<int32_t> ChooseSeedType(const Schema& schema, const std::string& name);

}  // namespace vicinity
