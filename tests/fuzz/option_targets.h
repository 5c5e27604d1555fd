// Fuzz targets: what a user says to the tool, and other languages to the C interface.
#pragma once

#include <string>

#include "tests/fuzz/fuzz_target.h"

namespace vicinity::fuzz {

// A command of the tool and its arguments, a line each: they are parsed, nothing is done.
FuzzTarget FuzzToolFlags(const std::string& folder);
// JSON, as the C interface takes it.
FuzzTarget FuzzGraphOptions(const std::string& folder);
FuzzTarget FuzzLoaderOptions(const std::string& folder);
// The text of a condition, and rows that it is evaluated on.
FuzzTarget FuzzCondition(const std::string& folder);
// The text of a query: what is read is written and read again, and looked for in a graph.
FuzzTarget FuzzQuery(const std::string& folder);

}  // namespace vicinity::fuzz
