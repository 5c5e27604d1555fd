// The seeds of a home's minibatches, batch after batch, as its trainer would take them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "cache/seed_chances.h"
#include "client/cli/home_plan.h"
#include "partition/dataset.h"
#include "proto/common/ids.h"

namespace vicinity::cli {

// Threads: one at a time.
class SeedBatches {
 public:
  virtual ~SeedBatches() = default;

  virtual NodeTypeId type() const = 0;
  // The next full batch, as global ids, for ever; nodes may repeat.
  virtual std::vector<int64_t> Next() = 0;
};

// Of the home's nodes: epochs in random order; what does not fill a batch at an epoch's end is left
// out. Of its links: a fresh choice for every batch, both ends of each and its negatives.
// FailedPrecondition for links whose ends and negatives are not of one node type: minibatches begin
// with one. The home must have seeds; dataset and plan must outlive the result.
absl::StatusOr<std::unique_ptr<SeedBatches>> BatchesOf(const Dataset& dataset, const HomePlan& plan,
                                                       int32_t home, uint64_t run_seed);

}  // namespace vicinity::cli
