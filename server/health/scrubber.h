// Reads the files of a dataset while it is served, again and again at a stated rate: what readers
// cannot notice (a disk that returns other bytes than it once did) is found when it comes by.
#pragma once

#include <spdlog/logger.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/verified_file.h"
#include "proto/common/ids.h"
#include "proto/common/mutex.h"
#include "proto/manifest.pb.h"
#include "server/health/shard_health.h"

namespace vicinity {

// What is damaged takes its shard out of service. Between two blocks, once a second at most, it
// looks at the files of faulty shards: one that has been put in place of a damaged one, or mended,
// is checked as a whole and taken into service. All of it is in the log, once.
//
// Threads:  one of its own, from Start until the destructor, which waits for a block's reading at
//           most. Lifetime: `dataset`, `health` and `log` outlive it. Memory: one block (2 MiB).
class Scrubber {
 public:
  enum class Which {
    kForever,  // pass after pass
    kOnce,     // one pass
  };
  static std::unique_ptr<Scrubber> Start(Dataset* dataset, Which which, int64_t bytes_per_second,
                                         ShardHealth* health, spdlog::logger* log);
  ~Scrubber();
  Scrubber(const Scrubber&) = delete;
  Scrubber& operator=(const Scrubber&) = delete;

  // True once every file has been read, false if that takes longer than `limit`.
  bool WaitUntilDone(std::chrono::nanoseconds limit);

  // Of the shards wanted, in one pass.
  int64_t num_files() const { return num_files_; }
  int64_t num_bytes() const { return num_bytes_; }
  // Of files that somebody has replaced or removed, which are served on as they were mapped.
  std::vector<std::string> notes() const;

 private:
  Scrubber(Dataset* dataset, Which which, int64_t bytes_per_second, ShardHealth* health,
           spdlog::logger* log);
  void Run();
  // These are false when the destructor waits.
  bool RunPass();
  bool CheckShard(const Shard& shard);
  bool CheckFile(VerifiedFile* file);
  bool CheckUnsummed(ShardId shard, VerifiedFile* file);
  // Waits until `bytes` more may have been read.
  bool Pace(int64_t bytes);
  void LookAround();
  void LookAgain(ShardId id);
  void TakeBack(ShardId id, VerifiedFile* file);
  void NoteReplaced(VerifiedFile* file);

  Dataset* const dataset_;
  const Which which_;
  const int64_t bytes_per_second_;
  ShardHealth* const health_;
  spdlog::logger* const log_;
  int64_t num_files_ = 0;
  int64_t num_bytes_ = 0;
  // Of its own thread.
  std::vector<char> buffer_;
  int64_t done_bytes_ = 0;  // of this pass
  std::chrono::steady_clock::time_point next_look_;
  std::chrono::steady_clock::time_point next_open_;  // of shards that were left out
  std::chrono::seconds open_delay_{1};
  bool looking_ = false;
  std::thread thread_;

  mutable Mutex mu_;
  CondVar changed_;
  bool stop_ ABSL_GUARDED_BY(mu_) = false;
  bool done_ ABSL_GUARDED_BY(mu_) = false;
  std::chrono::steady_clock::time_point next_read_ ABSL_GUARDED_BY(mu_);
  std::vector<std::string> notes_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vicinity
