// How much of a server's work writes may be while reads wait.
//
// Knows no lanes and reads no clock: what runs and waits is handed in, and so are times.
#pragma once

#include <chrono>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "proto/common/mutex.h"

namespace vicinity {

// A balance of work, which is the time that calls run: while reads wait, the reads that run pay in,
// and the writes that run take out,
//
//   balance += time x (share x reads running - (1 - share) x writes running),
//
// and a write gets its turn only while the balance is not below zero, and beside others only if it
// would not be soon. So over any time in which reads wait, writes are `share` of all work at most,
// but for what is borrowed: the rest of turns that are given already, and what a second without
// writes may save. A turn that was borrowed is paid back, up to 16 seconds of work.
//
// While no read waits writes have all turns they want, and after a second of that the balance is
// zero. And none waits for ever: where no write has run for kLongestWait, one gets its turn.
//
// Threads: any.
class WorkShare {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr std::chrono::milliseconds kLongestWait{500};

  struct Load {
    int64_t reads_running = 0;
    int64_t reads_waiting = 0;
    int64_t writes_running = 0;
  };
  // While reads waited, since the start: the time that calls ran, summed over calls.
  struct Use {
    double reads_seconds = 0;
    double writes_seconds = 0;
  };

  // From 0 to 1, where 1 lets all writes run.
  explicit WorkShare(double share) : share_(share) {}
  double share() const { return share_; }

  // What runs and waits from now on: whenever it changes, or every few milliseconds.
  void Look(const Load& load, Time now);
  // Whether a write may run beside what was there at the last Look. If so it is to be looked again
  // once it does.
  bool MayRun(Time now);

  Use use() const;
  // Turns that had to wait for reads though there was room: the looks at which one had to.
  int64_t held_back() const;

 private:
  void Count(std::chrono::duration<double> time) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const double share_;
  mutable Mutex mu_;
  Load load_ ABSL_GUARDED_BY(mu_);
  Time last_look_ ABSL_GUARDED_BY(mu_);
  Time last_contended_ ABSL_GUARDED_BY(mu_);
  Time last_writing_ ABSL_GUARDED_BY(mu_);   // when a write last ran, or none waited
  double balance_ ABSL_GUARDED_BY(mu_) = 0;  // seconds of work
  Use use_ ABSL_GUARDED_BY(mu_);
  int64_t held_back_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace vicinity
