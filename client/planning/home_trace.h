// The remote rows that one home's trainer needs, batch after batch: what a loader's cache is asked.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/planning/home_plan.h"
#include "client/planning/seed_batches.h"
#include "partition/cut/assigner.h"
#include "partition/dataset/dataset.h"
#include "sampler/sampled_graph.h"

namespace vicinity {

// What a loader fetches of a node type.
struct WantedRows {
  int64_t bytes = 0;  // of all columns together; 0: none is wanted
  int64_t columns = 1;
};

struct TracedBatch {
  std::vector<std::vector<int64_t>> remote;  // by node type: global ids, of types that are wanted
  int64_t num_remote = 0;
  // As the loader counts them (client/loading/epoch_run.h): in its window, and announced.
  int64_t window_bytes = 0;
  int64_t announced_bytes = 0;
};

// It reads lists raw: to be made and used inside ReadWhole (partition/dataset/whole_read.h).
//
// Lifetime: dataset, plan and assignment must outlive it. Threads: one at a time.
class HomeTrace {
 public:
  // `wanted`: by node type.
  HomeTrace(const Dataset& dataset, const HomePlan& plan, const Assignment& assignment,
            const std::vector<WantedRows>& wanted, int32_t home,
            std::unique_ptr<SeedBatches> seeds);

  // Samples so many batches more, on all cores. Errors as MinibatchSampler's.
  absl::Status Extend(int64_t num_batches);

  const std::vector<TracedBatch>& batches() const { return batches_; }
  int64_t steps() const { return seeds_->steps(); }  // an epoch has
  // Of a batch, on average over all so far; at least 1 each.
  double mean_remote() const;
  double mean_announced_bytes() const;

 private:
  absl::Status SamplePiece(int64_t begin, int64_t end, const std::vector<SeedBatch>& seeds,
                           int64_t first);
  TracedBatch TraceOf(const SampledGraph& graph) const;

  const Dataset& dataset_;
  const HomePlan& plan_;
  const Assignment& assignment_;
  const std::vector<WantedRows>& wanted_;
  const int32_t home_;
  const std::unique_ptr<SeedBatches> seeds_;
  std::vector<TracedBatch> batches_;
};

}  // namespace vicinity
