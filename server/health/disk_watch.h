// Watches how full the disk of the changes is, says so, and keeps a reserve on it.
#pragma once

#include <spdlog/logger.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "partition/overlay/disk_reserve.h"
#include "partition/overlay/disk_room.h"
#include "proto/common/mutex.h"
#include "proto/telemetry/registry.h"

namespace vicinity {

enum class DiskLevel : int {
  kEnough,
  kLow,   // writes go on
  kFull,  // writes are refused, or the reserve was needed
};

struct DiskWatchOptions {
  std::string folder;       // for the log, and whose disk is looked at
  int64_t warn_bytes = 0;   // less free than this is low; 0: nothing is
  int64_t least_bytes = 0;  // less free than this is full; 0: only a reserve that was given up is
  DiskRoom::FreeBytes free{};  // null: as the system says
};

// What the levels mean, and when one is over: FreeLimit. Each change of the level is a line in the
// log, and so is the reserve that was given up, and made again. It is made as soon as that leaves
// the disk a quarter above least_bytes, and as much again free.
//
// Threads:  one of its own looks once a second until the destructor; the rest from any.
// Lifetime: `reserve` and `log` outlive it.
class DiskWatch {
 public:
  static std::unique_ptr<DiskWatch> Start(const DiskWatchOptions& options, DiskReserve* reserve,
                                          spdlog::logger* log);
  // Without a thread: whoever has it looks.
  DiskWatch(const DiskWatchOptions& options, DiskReserve* reserve, spdlog::logger* log);
  ~DiskWatch();
  DiskWatch(const DiskWatch&) = delete;
  DiskWatch& operator=(const DiskWatch&) = delete;

  // One at a time.
  void Look();
  DiskLevel level() const { return level_.load(std::memory_order_relaxed); }
  // The group must not outlive this.
  void AddMetrics(MetricRegistry::Group* group) const;

 private:
  DiskLevel LevelOf(int64_t free);
  void TellLevel(DiskLevel level, int64_t free);
  // True: it holds the reserve.
  bool TryReserve(int64_t free);
  // Must be free before the reserve is made again: it, and what is to be left beside it.
  int64_t BytesForReserve() const;
  void Run();

  const DiskWatchOptions options_;
  DiskReserve* const reserve_;
  spdlog::logger* const log_;
  FreeLimit warn_;
  FreeLimit least_;
  std::atomic<DiskLevel> level_{DiskLevel::kEnough};
  bool held_;               // the reserve, when it was last looked at
  int64_t times_given_up_;  // likewise, how often it had been
  bool unread_ = false;     // the log has it that the disk does not say
  Mutex mu_;
  CondVar stopping_changed_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;  // last: it uses all above
};

}  // namespace vicinity
