// Seeds, and weights of negatives, that a caller passes beside a loader's options, as
// client/c_api/vicinity.h describes them.
#pragma once

#include <cstdint>
#include <vector>

#include "client/c_api/vicinity.h"
#include "client/types/negative_values.h"
#include "client/types/result.h"
#include "client/types/seed_values.h"

namespace vicinity::c_api {

// A copy of what is listed. kInvalidArgument saying which field is wrong.
Result<SeedList> ReadSeeds(const VicinitySeeds& seeds);

// Of their times, which ReadSeeds has found sound; empty: none.
std::vector<int64_t> ReadSeedTimes(const VicinitySeeds& seeds);

// A copy, too. kInvalidArgument saying which field is wrong.
Result<NegativeWeights> ReadNegativeWeights(const VicinityNegativeWeights& weights);

}  // namespace vicinity::c_api
