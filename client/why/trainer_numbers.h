// What a trainer has counted, as far as it tells what the trainer waits for.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/why/metric_samples.h"

namespace vicinity {

// Of a loader's stage, summed over its threads.
struct StageNumbers {
  double threads = 1;
  double batches = 0;
  double busy_seconds = 0;
  double starved_seconds = 0;  // without work
  double blocked_seconds = 0;  // without room
};

struct TrainerNumbers {
  std::string trainer;  // the label that it was given; empty: none
  std::string loader;
  std::map<std::string, StageNumbers> stages;  // by name, as LoaderStats has them
  double rows_local = 0;
  double rows_cached = 0;
  double rows_remote = 0;
  double remote_bytes = 0;
  double fetched_nodes = 0;
  double expected_rows = 0;  // a batch; 0: not known
  // Of all loaders of the graph, and of what it does beside them.
  std::map<std::string, double> rpc_seconds;  // by method, of RPCs that have ended
  std::map<std::string, double> rpcs;
  double received_bytes = 0;
  double edges_local = 0;  // sampled from mapped shards
  double edges_remote = 0;
  double shard_calls = 0;
  double retries = 0;
  double hedges = 0;
  double quarantines = 0;
  // Of the process.
  double cpu_seconds = 0;
  double cores = 0;  // 0: not known

  const StageNumbers& stage(const std::string& name) const;
  // Wall time: that of the caller of Next.
  double seconds() const;
};

// The loaders of a scrape, by trainer and name. NotFound if it has none: no trainer's, or one that
// has no loader yet.
absl::StatusOr<std::vector<TrainerNumbers>> LoadersIn(const MetricSamples& samples);

// What was counted between two readings of one loader; `after` alone if `before` is another's, or
// of a loader that began anew.
TrainerNumbers Between(const TrainerNumbers& before, const TrainerNumbers& after);

}  // namespace vicinity
