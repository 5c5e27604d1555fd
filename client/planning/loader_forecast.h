// What loaders will fetch, by the size of their caches: batches of every home's trainer, sampled as
// its loader samples them, go through the planner that its cache goes by, without any rows.
//
// It is the loader's own rule (client/loading/epoch_run.h, cache/pool/look_ahead_planner.h) with
// batches like its own, so what it tells is what happens where sampling keeps ahead of training and
// epochs follow each other.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cache/vip/vip.h"
#include "client/planning/home_plan.h"
#include "client/planning/home_trace.h"
#include "client/types/loader_values.h"
#include "partition/cut/assigner.h"
#include "partition/dataset/dataset.h"
#include "proto/common/progress.h"

namespace vicinity {

struct ForecastOptions {
  std::vector<WantedRows> wanted;  // by node type
  int64_t trainers_per_home = 1;
  CachePolicy cache = CachePolicy::kAuto;
  // As LoaderOptions'.
  int64_t fetch_ahead = LoaderOptions().fetch_ahead;
  int64_t window_bytes = LoaderOptions().window_bytes;
  int64_t sample_ahead = LoaderOptions().sample_ahead;
  uint64_t run_seed = 0;
  int64_t least_batches = 128;  // counted, of all homes together
  // Of remote rows, all sampled batches of all homes together need about so many and no more.
  int64_t most_rows = int64_t{48} << 20;
};

struct LoaderForecast {
  int64_t num_sampled = 0;   // batches
  int64_t num_counted = 0;   // of them, behind those that only warm the caches
  std::vector<double> rows;  // fetched a batch, by cache size: the mean over homes with seeds
};

// With caches of `cache_rows` rows in all, rows of batches in flight included, that hold the
// likeliest by `scores` at first; the rows fetched for that are not counted. Where epochs are short
// enough the batches counted are whole epochs behind the first. Errors as BatchesOf's,
// MinibatchSampler's, LookAheadPlanner's and ReadWhole's.
//
// Memory: for one home at a time, 8 bytes a remote row that its sampled batches need, on each core
// as much as the planner takes, and 20 bytes a remote node.
absl::StatusOr<LoaderForecast> ForecastLoaders(const Dataset& dataset, const VipScores& scores,
                                               const HomePlan& plan, const Assignment& assignment,
                                               absl::Span<const int64_t> cache_rows,
                                               const ForecastOptions& options, Progress* progress);

}  // namespace vicinity
