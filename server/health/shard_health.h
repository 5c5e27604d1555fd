// Which of the served shards are fit to be served, and how much of them has been checked.
#pragma once

#include <spdlog/logger.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/verified_file.h"
#include "proto/common/ids.h"
#include "proto/common/mutex.h"
#include "proto/telemetry/registry.h"

namespace vicinity {

// Faults are the files' own (partition/dataset/verified_file.h): whoever reads one finds them.
//
// Threads:  all methods from any number at once. Lifetime: the dataset must outlive it.
class ShardHealth {
 public:
  struct State {
    ShardId shard{0};
    int64_t file_bytes = 0;     // of the shard's files
    int64_t checked_bytes = 0;  // of them, verified since start or since they changed
    std::string fault;          // empty: none
  };
  struct Scrubbed {
    int64_t passes = 0;      // that are over
    int64_t done_bytes = 0;  // of the pass under way
    int64_t all_bytes = 0;   // of a pass
  };

  // Of every shard that `dataset` should have open; what was checked at open counts.
  explicit ShardHealth(const Dataset& dataset);

  // DataLoss naming the file if the shard is faulty. Shards not served here have no faults.
  absl::Status Check(ShardId shard) const { return dataset_.fault(shard); }

  // A file of format version 1, which has no sums that would tell, counts as checked once.
  void AddChecked(ShardId shard, const VerifiedFile& file);
  // Says in the log that a shard has a fault, or none any more, if that is new.
  void LogFault(ShardId shard, spdlog::logger* log);

  void SetScrubbed(const Scrubbed& scrubbed);
  void SetScrubDone(int64_t bytes);
  Scrubbed scrubbed() const;

  std::vector<State> states() const;  // by rising shard

  // Of each shard its bytes, those checked, and whether it is faulty; how far the check in the
  // background is. It must outlive the group.
  void AddMetrics(MetricRegistry::Group* group) const;

 private:
  int64_t FileBytes(ShardId id) const;
  // Of a shard whose files have so many.
  int64_t CheckedBytes(ShardId id, int64_t file_bytes) const;

  const Dataset& dataset_;

  mutable Mutex mu_;
  std::map<int32_t, std::set<std::string>> checked_ ABSL_GUARDED_BY(mu_);  // paths, of version 1
  std::map<int32_t, int64_t> checked_bytes_ ABSL_GUARDED_BY(mu_);          // of them, and at open
  std::set<int32_t> known_faulty_ ABSL_GUARDED_BY(mu_);
  Scrubbed scrubbed_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vicinity
