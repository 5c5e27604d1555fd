// Prints client/python/vicinity_graph/option_types.py: bazel run
// //client/options:python_options_main > client/python/vicinity_graph/option_types.py
#include <iostream>

#include "client/options/python_options.h"

int main() {
  std::cout << vicinity::PythonOptions();
  return 0;
}
