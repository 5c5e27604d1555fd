// The options of graphs and loaders as JSON: their values, and what there is to choose.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/options/options_table.h"

namespace vicinity {

// "integer", "bytes", "one of ...": what a value looks like, for people.
std::string TypeOf(const OptionField& field);

// As it would be given; of a group an object of its options' values.
nlohmann::ordered_json ValueOf(const OptionField& field);

// [{"name", "type", "default", "doc"}, ...]. Where it applies also "least"; "words", a choice's;
// and for a group "options", a list of the same form. `options` are those of a default-constructed
// object.
nlohmann::ordered_json DescribeOptions(const std::vector<Option>& options);

// {"graph": [...], "loader": [...], "sample": [...]}
nlohmann::ordered_json DescribeAllOptions();

}  // namespace vicinity
