// Flags for the options of graphs and loaders, from their table.
#pragma once

#include <CLI/CLI.hpp>
#include <vector>

#include "client/options/options_table.h"

namespace vicinity {

// Adds a flag for each of the options that have one. What it is given goes where the option's value
// lies; the default is what lies there now. Values of the wrong type, below the least or that are
// no word of a choice are CLI::ValidationErrors.
//
// Lifetime: what the options point to must outlive `app`.
void AddOptionFlags(const std::vector<Option>& options, CLI::App* app);

}  // namespace vicinity
