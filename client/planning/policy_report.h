// What every cache policy would fetch, counted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/planning/home_plan.h"
#include "partition/dataset/dataset.h"
#include "proto/common/progress.h"

namespace vicinity {

struct PolicyReportOptions {
  // Rows in memory, those of batches in flight among them, each as a share of a mean shard's nodes.
  std::vector<double> replication = {0.05, 0.1, 0.2, 0.5, 1};
  int64_t num_epochs = 2;                    // counted
  int64_t num_simulated_epochs = 2;          // others, for the policy that goes by simulation
  int depth = 10;                            // batches whose rows are fetched ahead
  std::vector<int64_t> windows = {32, 512};  // sampled batches that wait, of next-use policies
  uint64_t run_seed = 0;

  // InvalidArgument naming the option and its value.
  absl::Status Validate() const;
};

// Trainers are the homes that have seeds. Row counts are sums over them, memory is that of one, on
// average over them.
struct PolicyReport {
  struct Size {
    double replication = 0;
    int64_t total_rows = 0;
  };
  struct Cell {
    double fetched = 0;  // rows an epoch
    double held = 0;     // rows in memory
    double most_held = 0;
  };
  struct Line {
    std::string policy;
    std::vector<Cell> cells;  // by size
  };
  int num_trainers = 0;
  int64_t num_epochs = 0;
  int depth = 0;
  double batches = 0;  // an epoch
  double used = 0;     // remote rows that an epoch's batches ask for
  std::vector<Size> sizes;
  std::vector<Line> lines;
};

// Samples epochs of one trainer after another. Of a plan with a query they are of its answers:
// "vip" is then the formula alone, of minibatches that go the same ways, and "query-ranking" what
// it comes to with sampled answers of epochs of their own, as `vicinity rank` stores it. Errors as
// MakeAllPolicies', CalibratedScoresOf's, BatchNodes::Of's and ReadWhole's. Memory:
// 8 bytes a remote row used in all of one trainer's epochs, and some 50 bytes a node.
absl::StatusOr<PolicyReport> CountPolicies(const Dataset& dataset, const HomePlan& plan,
                                           const PolicyReportOptions& options, Progress* progress);

}  // namespace vicinity
