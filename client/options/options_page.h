// docs/options.md: all options, for people.
#pragma once

#include <string>

namespace vicinity {

// The text of the page, which `bazel run //client/options:options_page_main` prints.
std::string OptionsPage();

}  // namespace vicinity
