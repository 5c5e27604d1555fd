// The seeds of a trainer's minibatches, batch after batch, as its loader takes them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "cache/vip/seed_chances.h"
#include "client/planning/home_plan.h"
#include "partition/dataset/dataset.h"
#include "proto/common/ids.h"
#include "sampler/minibatch_sampler.h"

namespace vicinity {

struct SeedBatch {
  std::vector<TypedSeeds> seeds;  // as the sampler takes them
  MinibatchDraw draw;
};

// Threads: one at a time.
class SeedBatches {
 public:
  virtual ~SeedBatches() = default;

  virtual int64_t steps() const = 0;  // batches an epoch
  // The next, for ever: one epoch behind the other.
  virtual SeedBatch Next() = 0;
};

// Of the first of `trainers_per_home` trainers that are at home in `home`, while all of them train.
// Of nodes: just the batches that a loader of that trainer makes (client/loading/seed_schedule.h).
// Of links: a fresh choice for every batch, their sources, their targets, and their negatives, from
// the home's links or, with seeds_from_all, those of all. With draws by time each seed has its
// time, negatives that of their link. The home must have seeds; dataset and plan must outlive the
// result. Errors as SeedSchedule's, and of links' times TimesOfLinks'.
absl::StatusOr<std::unique_ptr<SeedBatches>> BatchesOf(const Dataset& dataset, const HomePlan& plan,
                                                       int32_t home, int64_t trainers_per_home,
                                                       uint64_t run_seed);

}  // namespace vicinity
