#include "client/planning/transfer_plan.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace vicinity {
std::vector<int64_t> PlannedSizes(const RemoteCurves& curves,
                                  absl::Span<const ExpectedRemote::Point> reported) {
  constexpr int64_t kSteps = 16;
  std::set<int64_t> sizes;
  for (const ExpectedRemote::Point& point : reported) sizes.insert(point.cache_rows);
  for (int64_t i = 0; i <= kSteps; ++i) {
    const double part = static_cast<double>(i * i * i) / (kSteps * kSteps * kSteps);
    sizes.insert(std::llround(part * static_cast<double>(curves.most_remote())));
  }
  return {sizes.begin(), sizes.end()};
}

RemoteEstimate::RemoteEstimate(std::vector<int64_t> cache_rows, std::vector<double> rows)
    : cache_rows_(std::move(cache_rows)), rows_(std::move(rows)) {}

double RemoteEstimate::RowsPerBatch(int64_t cache_rows) const {
  const auto above = std::upper_bound(cache_rows_.begin(), cache_rows_.end(), cache_rows);
  const size_t i = above - cache_rows_.begin();
  if (i == 0) return rows_.front();
  if (i == rows_.size()) return rows_.back();
  const double part = static_cast<double>(cache_rows - cache_rows_[i - 1]) /
                      static_cast<double>(cache_rows_[i] - cache_rows_[i - 1]);
  return rows_[i - 1] + part * (rows_[i] - rows_[i - 1]);
}

int64_t RemoteEstimate::CacheFor(double rows) const {
  int64_t too_small = -1, enough = cache_rows_.back();
  while (enough - too_small > 1) {
    const int64_t middle = too_small + (enough - too_small) / 2;
    (RowsPerBatch(middle) <= rows ? enough : too_small) = middle;
  }
  return enough;
}

TransferCost CostOf(const RemoteEstimate& estimate, const TransferModel& model,
                    int64_t cache_rows) {
  TransferCost cost;
  cost.share = -2;
  cost.cache_rows = cache_rows;
  cost.rows = estimate.RowsPerBatch(cache_rows);
  cost.batch_bytes = cost.rows * model.row_bytes;
  const double trainers = static_cast<double>(model.trainers_per_home * model.num_homes);
  // Into a home's machine go its trainers' rows; out of a shard's its part of everybody's.
  const double busiest = std::max(static_cast<double>(model.trainers_per_home),
                                  trainers / static_cast<double>(model.num_shards));
  cost.batch_seconds = cost.batch_bytes * busiest * 8 / (model.link_gbps * 1e9);
  const double steps = static_cast<double>(model.steps);
  cost.epoch_rows = cost.rows * trainers * steps;
  cost.epoch_bytes = cost.batch_bytes * trainers * steps;
  cost.epoch_seconds = cost.batch_seconds * steps;
  return cost;
}

}  // namespace vicinity
