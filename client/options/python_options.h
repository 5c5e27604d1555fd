// client/python/vicinity_graph/option_types.py: the types of all options, for Python.
#pragma once

#include <string>

namespace vicinity {

// The text of the module, which `bazel run //client/options:python_options_main` prints.
std::string PythonOptions();

}  // namespace vicinity
