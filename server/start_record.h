// How a server's last starts ended, in a file beside its changes: one that dies again and again,
// over a shard that ends whoever opens it, say, is not started for ever.
#pragma once

#include <spdlog/logger.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/common/ids.h"
#include "proto/common/mutex.h"

namespace vicinity {

// Of a server that was not started, <sysexits.h>'s EX_CONFIG: somebody has to look.
inline constexpr int kDiesAgainExitCode = 78;

// A start counts until it has ended in order, with an error or without, or has been ready for
// kSettled. What dies has no time to say so: it has left its line in the file.
//
// Where the file cannot be read or written, the log says so and nothing is counted: this must keep
// no server from starting that could.
//
// Threads:  one at a time, and one of its own once it is ready.
// Lifetime: `log` outlives it. The destructor leaves the file as it is.
class StartRecord {
 public:
  static constexpr size_t kMost = 5;  // starts in a row that died within kWindow
  static constexpr absl::Duration kWindow = absl::Minutes(10);
  static constexpr std::chrono::minutes kSettled{2};

  // Counts this start. FailedPrecondition, which says since when and what to do, and nothing is
  // counted: the last kMost have died. `force`: not even then.
  static absl::StatusOr<std::unique_ptr<StartRecord>> Begin(const std::string& path, bool force,
                                                            absl::Time now, spdlog::logger* log);
  ~StartRecord();
  StartRecord(const StartRecord&) = delete;
  StartRecord& operator=(const StartRecord&) = delete;

  // Calls are answered: after `settled` all starts are forgotten.
  void Ready(std::chrono::nanoseconds settled = kSettled);
  // It ends in order: all are forgotten after it was ready, else only this one.
  void End();

  // Of a server: in the folder of its changes, by its first shard, since several may share it.
  static std::string PathIn(const std::string& changes, ShardId first);

 private:
  StartRecord(std::string path, std::vector<int64_t> earlier, spdlog::logger* log)
      : path_(std::move(path)), earlier_(std::move(earlier)), log_(log) {}
  void WaitAndForget(std::chrono::nanoseconds settled);

  const std::string path_;
  const std::vector<int64_t> earlier_;  // that died, in Unix seconds
  spdlog::logger* const log_;
  bool was_ready_ = false;
  Mutex mu_;
  CondVar ending_changed_;
  bool ending_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;  // last: it uses all above
};

}  // namespace vicinity
