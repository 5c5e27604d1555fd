// What `vicinity partition` will take of memory and disk, told before it begins.
#pragma once

#include <cstdint>

#include "client/planning/calibrated_scores.h"
#include "client/planning/home_plan.h"
#include "partition/cut/assigner.h"
#include "partition/dataset/dataset.h"

namespace vicinity {

// The sum, beside the mapped dataset, of what all phases hold and the largest of the phases:
// `assigning`, the VIP analysis, sampling, writing shards and the ranking. `plan`: what is analysed
// and sampled; null: nothing is. Memory is right within a third (`deploy/bench.sh memory`).
WorkEstimate EstimatePartition(const Dataset& source, const WorkEstimate& assigning,
                               const HomePlan* plan, const CalibrationOptions& calibration);

}  // namespace vicinity
