// Arguments that calls about graphs share: types by name, ids.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/types/result.h"
#include "partition/schema/schema.h"

namespace vicinity::c_api {

// kNotFound naming the types there are.
Result<int32_t> FindNodeType(const Schema& schema, const char* name);
Result<int32_t> FindEdgeType(const Schema& schema, const char* name);

// Edge types by their names with commas between them, "user:buys:item,item:bought_by:user"; of an
// empty text the graph's only one, kInvalidArgument if it has several.
Result<std::vector<int32_t>> FindMetapath(const Schema& schema, const char* names);

// A copy of `ids`, which may be null if there are none; kInvalidArgument for a number below 0.
Result<std::vector<int64_t>> CopyIds(const int64_t* ids, int64_t num_ids);

// The names of `text`, of which each ends where `ends` says; kInvalidArgument for ends that fall.
Result<std::vector<std::string>> CopyNames(const char* text, const std::vector<int64_t>& ends);

}  // namespace vicinity::c_api
