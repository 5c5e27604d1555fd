// How many remote rows sampled batches really need, each on its own, for caches of several sizes
// that never change: what tells how far the VIP formula is off on a graph.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cache/vip/vip.h"
#include "client/planning/home_plan.h"
#include "partition/cut/assigner.h"
#include "partition/dataset/dataset.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"

namespace vicinity::testing {

struct MeasureOptions {
  int64_t least_batches = 128;    // of all homes together, enough to tell how they differ; 0: none
  int64_t most_batches = 100000;  // where the precision asks for more than the least
  double precision = 0.007;       // wanted standard error of a home's rows, relative
  uint64_t run_seed = 0;
};

struct MeasuredRemote {
  int64_t num_batches = 0;
  std::vector<double> rows;  // fetched a batch, by cache size: the mean over homes
};

// Samples full batches of epochs in random order (BatchesOf), and counts the remote rows of `types`
// (empty: all) that are not among the home's likeliest `cache_rows`, which rise: the precision goes
// by the first. Errors as BatchesOf's, BatchNodes::Of's and ReadWhole's.
//
// Memory: 4 bytes a node, and 16 a node that one home may need.
absl::StatusOr<MeasuredRemote> MeasureRemote(const Dataset& dataset, const VipScores& scores,
                                             const HomePlan& plan, const Assignment& assignment,
                                             absl::Span<const NodeTypeId> types,
                                             absl::Span<const int64_t> cache_rows,
                                             const MeasureOptions& options, Progress* progress);

}  // namespace vicinity::testing
