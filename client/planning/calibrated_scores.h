// The scores that rankings are made of: the VIP formula's, corrected by sampled batches.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "cache/vip/vip.h"
#include "client/planning/home_plan.h"
#include "partition/dataset/dataset.h"
#include "proto/common/progress.h"

namespace vicinity {

struct CalibrationOptions {
  int64_t most_epochs = 8;  // of each home; 0: the formula alone
  // Sampled nodes of all homes together: after so many no batch is begun. At least as many as the
  // graph has nodes are allowed.
  int64_t most_rows = int64_t{16} << 20;
  // A thread samples so many one behind the other.
  static constexpr int64_t kBatchesATime = 4;
};

struct CalibratedScores {
  VipScores scores;
  // That the formula was corrected by; 0: it was not, as the options say.
  int64_t num_batches = 0;
};

// Of a plan with a query the batches are its answers, and the formula is of minibatches that go
// the same ways (client/planning/query_formula.h): without sampled batches it is of no use, so
// InvalidArgument is that there may be none.
//
// Batches are sampled by all of the plan's rules, those that the formula knows nothing of as well
// (cache/vip/vip.h). The same for any number of threads. Errors as ScoresOf's, BatchNodes::Of's
// and ReadWhole's.
//
// Memory: beside that of ScoresOf's result, 20 bytes a node.
// Cost:   ScoresOf's, and sampling: some seconds, or where that is longer a pass over as many nodes
//         as the graph has.
absl::StatusOr<CalibratedScores> CalibratedScoresOf(const Dataset& dataset, const HomePlan& plan,
                                                    const CalibrationOptions& options,
                                                    Progress* progress);

}  // namespace vicinity
