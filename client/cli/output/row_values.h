// Rows as numbers.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "partition/schema/schema.h"

namespace vicinity::cli {

// The values of one row at `row`, row_bytes() long: a number or boolean for a scalar, else lists
// within lists, by the column's shape. Values that are no number (NaN, infinities) are strings.
nlohmann::ordered_json RowAsJson(const ColumnSpec& column, const char* row);

// For people: wide rows are cut, and say how many values they have.
std::string RowAsText(const ColumnSpec& column, const char* row);

}  // namespace vicinity::cli
