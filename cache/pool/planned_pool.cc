#include "cache/pool/planned_pool.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "proto/common/mutex.h"
#include "proto/common/status.h"

namespace vicinity {

PlannedPool::PlannedPool(std::unique_ptr<LookAheadPlanner> planner)
    : planner_(std::move(planner)) {}

absl::Status PlannedPool::Announce(absl::Span<const int64_t> ids) {
  MutexLock lock(&mu_);
  return planner_->Announce(ids);
}

void PlannedPool::Forget() {
  MutexLock lock(&mu_);
  planner_->Forget();
}

absl::Status PlannedPool::Plan(absl::Span<const int64_t> ids, PoolBatch* batch) {
  RowPlan plan;
  VICINITY_RETURN_IF_ERROR(planner_->Admit(ids, &plan));
  batch->ticket = plan.ticket;
  batch->slots = std::move(plan.slots);
  batch->missing = std::move(plan.missing);
  arrivals_.Expect(batch);
  stats_.lookups += static_cast<int64_t>(ids.size());
  stats_.fetched += static_cast<int64_t>(batch->missing.size());
  return absl::OkStatus();
}

void PlannedPool::Abandon(const PoolBatch& batch) {
  MutexLock lock(&mu_);
  planner_->Disown(batch.ticket, arrivals_.GiveUp(batch));
}

void PlannedPool::Release(const PoolBatch& batch) {
  MutexLock lock(&mu_);
  planner_->Disown(batch.ticket, arrivals_.GiveUp(batch));
  planner_->Release(batch.ticket);
}

PoolStats PlannedPool::stats() const {
  MutexLock lock(&mu_);
  PoolStats stats = stats_;
  stats.capacity_rows = planner_->capacity_rows();
  stats.hits = stats.lookups - stats.fetched;
  stats.staged_rows = std::max<int64_t>(0, planner_->most_held_rows() - planner_->capacity_rows());
  return stats;
}

}  // namespace vicinity
