// What a loader will fetch, and what that costs, by the size of its cache: what `vicinity plan`
// tells.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/planning/home_plan.h"
#include "client/planning/loader_forecast.h"
#include "client/planning/transfer_plan.h"
#include "client/types/loader_values.h"
#include "partition/dataset/dataset.h"
#include "proto/common/progress.h"

namespace vicinity {

struct PlanRequest {
  VipRequest vip;
  std::optional<SeedPolicy> seed_policy;  // none: home's for links, else global
  ForecastOptions loader;                 // `wanted` follows from what is below
  double link_gbps = 10;
  // What is fetched of a node: these columns, of whichever types have them; none: all but labels,
  // splits and targets. A size that is not 0 stands for all columns of every type.
  std::vector<std::string> columns;
  int64_t row_bytes = 0;

  // Sizes of caches that are told, in rows; none: shares of a mean shard.
  std::vector<int64_t> cache_rows;

  // At most one of these asks for the smallest cache that leaves so much; below 0: not asked.
  double rows_per_batch = -1;  // remote ones
  double seconds = -1;         // of transfer an epoch
  double share = -1;           // of what is fetched without a cache, as 0.25

  // What `more_bytes` beyond a cache of `cache_bytes` would save; 0: not asked.
  int64_t cache_bytes = 0;
  int64_t more_bytes = 0;

  // InvalidArgument naming what makes no sense, and its value.
  absl::Status Validate() const;
};

// Of a query (VipRequest::query) there is no loader: a plan is of each answer alone, with rows as
// its sampled answers need them and, unless `columns` or `row_bytes` are given, the columns that it
// brings.
//
// Errors: as Validate, PlanHomes, CalibratedScoresOf and ForecastLoaders; InvalidArgument for a
// column that no type has, or draws by time from seeds of homes, which no loader makes;
// FailedPrecondition if there is nothing to fetch. Memory and cost: those of CalibratedScoresOf and
// ForecastLoaders.
absl::StatusOr<TransferPlan> PlanTransfers(const Dataset& dataset, const PlanRequest& request,
                                           Progress* progress);

}  // namespace vicinity
