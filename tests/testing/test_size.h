// How much a test does, where whoever runs it may ask for more or less.
#pragma once

#include <algorithm>
#include <cstdlib>

namespace vicinity::testing {

// What the environment variable `name` says, at least 1; `otherwise` where it is not set.
inline int SizeFromEnvironment(const char* name, int otherwise) {
  const char* const wanted = std::getenv(name);
  return wanted == nullptr ? otherwise : std::max(1, std::atoi(wanted));
}

}  // namespace vicinity::testing
