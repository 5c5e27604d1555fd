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
#include "proto/common/open_file.h"

namespace vicinity {

// Of a server that was not started, <sysexits.h>'s EX_CONFIG: somebody has to look.
inline constexpr int kDiesAgainExitCode = 78;

// A start counts until it has ended in order, with an error or without, or has been ready for
// kSettled. What dies has no time to say so: it has left its line in the file.
//
// The file is locked for as long as this is there. A server that is started over changes that
// another serves from is refused by their locks, sooner or later: it finds the file locked, and
// however it ends it has counted nothing.
//
// Where the file cannot be read or written, the log says so and nothing is counted: this must keep
// no server from starting that could.
//
// Threads:  one at a time, and one of its own once it is ready.
// Lifetime: `log` outlives it. The destructor leaves what is in the file as it is.
class StartRecord {
 public:
  static constexpr size_t kMost = 5;  // starts in a row that died within kWindow
  static constexpr absl::Duration kWindow = absl::Minutes(10);
  static constexpr std::chrono::minutes kSettled{2};

  // Counts this start, unless another process has the file. FailedPrecondition, which says since
  // when and what to do, and nothing is counted: the last kMost have died. `force`: not even then.
  static absl::StatusOr<std::unique_ptr<StartRecord>> Begin(const std::string& path, bool force,
                                                            absl::Time now, spdlog::logger* log);
  ~StartRecord();
  StartRecord(const StartRecord&) = delete;
  StartRecord& operator=(const StartRecord&) = delete;

  // Calls are answered: after `settled` all starts are forgotten.
  void Ready(std::chrono::nanoseconds settled = kSettled);
  // It ends in order: all are forgotten after it was ready, else only this one. A second call
  // changes nothing.
  void End();

  // Of a server: in the folder of its changes, by its first shard, since several may share it.
  static std::string PathIn(const std::string& changes, ShardId first);

 private:
  StartRecord(std::string path, Descriptor file, spdlog::logger* log)
      : path_(std::move(path)), file_(std::move(file)), log_(log) {}
  std::vector<int64_t> Read() const;
  void Write(const std::vector<int64_t>& times) const;
  void WaitAndForget(std::chrono::nanoseconds settled);

  const std::string path_;
  const Descriptor file_;  // locked; not ok(): nothing is counted
  spdlog::logger* const log_;
  std::vector<int64_t> earlier_;  // that died, in Unix seconds
  bool was_ready_ = false;
  Mutex mu_;
  CondVar ending_changed_;
  bool ending_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;  // last: it uses all above
};

}  // namespace vicinity
