// Next use inside a window of batches that are sampled ahead, the ranking beyond it: the pool as it
// is.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cache/policies/policy.h"

namespace vicinity {

// "next-use-40" for a window of 40 batches that are sampled and wait for their turn (replay.h).
// `ranked`: likeliest first; the first fill the pool before it starts.
std::unique_ptr<Policy> MakeNextUsePolicy(std::vector<int64_t> ranked, int64_t window);

}  // namespace vicinity
