// What all pools do alike whose rows a LookAheadPlanner places, wherever the bytes are.
#pragma once

#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "cache/pool/arrivals.h"
#include "cache/pool/look_ahead_planner.h"
#include "cache/pool/row_pool.h"
#include "proto/common/mutex.h"

namespace vicinity {

// Who derives brings the bytes: room for them in Admit, Deliver and Assemble.
//
// Threads: as RowPool; Announce and Admit in an order that makes sense to the caller.
// Order:   batches should be released in the order of their admission: one that is released early
//          keeps its rows until those before it are.
class PlannedPool : public RowPool {
 public:
  absl::Status Announce(absl::Span<const int64_t> ids) override;
  void Forget() override;
  void Abandon(const PoolBatch& batch) override;
  void Release(const PoolBatch& batch) override;
  PoolStats stats() const override;

 protected:
  explicit PlannedPool(std::unique_ptr<LookAheadPlanner> planner);

  // Admits the batch, for all of whose rows there is room: the slots that it gets are known to
  // `arrivals_`. Errors as the planner's; nothing is changed then.
  absl::Status Plan(absl::Span<const int64_t> ids, PoolBatch* batch)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  Arrivals arrivals_;
  mutable Mutex mu_;  // taken before that of arrivals_
  const std::unique_ptr<LookAheadPlanner> planner_ ABSL_PT_GUARDED_BY(mu_);

 private:
  PoolStats stats_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vicinity
