// No cache.
#pragma once

#include <memory>

#include "cache/policies/policy.h"

namespace vicinity {

// "none": every row is fetched that no batch in flight has.
std::unique_ptr<Policy> MakeNoPolicy();

}  // namespace vicinity
