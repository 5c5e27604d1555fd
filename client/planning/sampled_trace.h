// Epochs of one trainer, sampled as a loader samples them, of which only the remote nodes are kept:
// what cache policies are counted on.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cache/policies/access_trace.h"
#include "cache/policies/trainer_view.h"
#include "client/planning/query_batches.h"
#include "proto/common/progress.h"

namespace vicinity {

struct TraceOptions {
  uint64_t run_seed = 0;
  int64_t first_epoch = 0;
  int64_t num_epochs = 1;
  absl::Span<const int64_t> node_times;  // with draws by time: of the seeds' type, by global id
  const QueryBatches* query = nullptr;   // whose answers batches are; null: minibatches
};

// Each epoch takes the view's seeds in an order of its own, batch by batch. Errors as
// BatchNodes::Of.
absl::StatusOr<AccessTrace> SampleTrace(const TrainerView& view, const TraceOptions& options,
                                        Progress* progress);

}  // namespace vicinity
