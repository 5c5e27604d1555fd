// Checks files of a dataset while it is served: in the background those that were too large to be
// checked at start, and all of them when somebody asks.
#pragma once

#include <spdlog/logger.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset.h"
#include "proto/common/ids.h"
#include "proto/common/mutex.h"
#include "proto/manifest.pb.h"
#include "server/shard_health.h"

namespace vicinity {

// Reads files once, slower than a given rate, and marks the shard of one that is not what the
// manifest says faulty. The log says so once.
//
// Threads:  one of its own, from Start until the destructor, which waits for a block's reading at
// most. Lifetime: `dataset`, `health` and `log` outlive it. Memory:   one block.
class Scrubber {
 public:
  enum class Which {
    kUnchecked,  // at start; what passes counts as checked from then on
    kAll,        // of the served shards
  };
  static std::unique_ptr<Scrubber> Start(const Dataset& dataset, Which which,
                                         int64_t bytes_per_second, ShardHealth* health,
                                         spdlog::logger* log);
  ~Scrubber();
  Scrubber(const Scrubber&) = delete;
  Scrubber& operator=(const Scrubber&) = delete;

  // True once every file has been read, false if that takes longer than `limit`.
  bool WaitUntilDone(std::chrono::nanoseconds limit);

  // What it reads in all.
  int64_t num_files() const { return static_cast<int64_t>(files_.size()); }
  int64_t num_bytes() const;

 private:
  struct File {
    proto::FileEntry entry;
    ShardId shard;
  };

  Scrubber(const Dataset& dataset, Which which, int64_t bytes_per_second, ShardHealth* health,
           spdlog::logger* log);
  void Run();
  // Cancelled if the destructor is waiting.
  absl::Status Check(const File& file);
  // Waits until `bytes` more may have been read. False: stop.
  bool Pace(int64_t bytes);

  const std::string directory_;
  const Which which_;
  const int64_t bytes_per_second_;
  ShardHealth* const health_;
  spdlog::logger* const log_;
  std::vector<File> files_;
  std::thread thread_;

  Mutex mu_;
  CondVar changed_;
  bool stop_ ABSL_GUARDED_BY(mu_) = false;
  bool done_ ABSL_GUARDED_BY(mu_) = false;
  std::chrono::steady_clock::time_point next_read_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vicinity
