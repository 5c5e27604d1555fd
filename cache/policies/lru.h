// Least recently used.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cache/policies/policy.h"

namespace vicinity {

// "lru": a pool that starts with the first of `ranked` and lets go of what was longest unused.
std::unique_ptr<Policy> MakeLruPolicy(std::vector<int64_t> ranked);

}  // namespace vicinity
