// For tests over all options: a value that the option does not have by default.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "client/options/options_table.h"

namespace vicinity::testing {

// Of the option's type and allowed by the table, as JSON; of a group an object with such a value of
// each of its options.
nlohmann::ordered_json OtherValue(const Option& option);

// The same as the example trainer's flags take it.
std::string OtherText(const Option& option);

}  // namespace vicinity::testing
