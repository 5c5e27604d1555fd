// Which of the served shards are fit to be served, and how much of them has been checked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset.h"
#include "proto/common/ids.h"
#include "proto/common/mutex.h"

namespace vicinity {

// Threads: all methods from any number at once.
class ShardHealth {
 public:
  struct State {
    ShardId shard{0};
    int64_t file_bytes = 0;     // of the shard's files
    int64_t checked_bytes = 0;  // of them, checksum verified since start
    std::string fault;          // empty: none
  };

  // Every shard that `dataset` has opened, without fault; what was checked at open counts.
  explicit ShardHealth(const Dataset& dataset);

  // DataLoss naming the file if the shard is faulty. Shards not served here have no faults.
  absl::Status Check(ShardId shard) const;

  void AddChecked(ShardId shard, int64_t bytes);
  // True the first time: the first fault is the one that is kept.
  bool MarkFaulty(ShardId shard, std::string fault);

  std::vector<State> states() const;  // by rising shard

 private:
  State* Find(ShardId shard) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  mutable Mutex mu_;
  std::vector<State> states_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vicinity
