// What the bytes of one row of a ragged column must be (RaggedSpec).
#pragma once

#include <string>
#include <string_view>

#include "partition/schema/schema.h"

namespace vicinity {

// What is wrong with a row, such as "has 7 bytes, no multiple of 8"; empty: nothing. Rows are of
// whole values, and of sparse columns their indices rise and are below num_columns.
std::string RaggedRowFault(const RaggedSpec& spec, std::string_view row);

}  // namespace vicinity
