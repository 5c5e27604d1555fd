// Remote rows that batches hold in pools after they have been put together: for the batches behind
// them, until these are so far that they may not.
//
// Which rows a batch finds in a pool then depends on the batches alone, and not on how soon a
// trainer takes them: an epoch fetches as many rows each time, and the most that sharing can save.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>

#include "client/loading/batch_rows.h"
#include "proto/common/mutex.h"

namespace vicinity {

// Holds what a BatchWindow of the same size could have inside: as many of the last batches as fit.
//
// Threads: any number; Let from one.
class HeldRows {
 public:
  HeldRows(int64_t most_batches, int64_t most_bytes)
      : most_batches_(most_batches), most_bytes_(most_bytes) {}

  // The batch `step`, of so many bytes, comes next, and is let into the window: lets go of the rows
  // of those that would not fit beside it. All of them have been put together, since the window let
  // them out before.
  void LetIn(int64_t step, int64_t bytes) {
    inside_.emplace_back(step, bytes);
    bytes_ += bytes;
    const auto is_full = [&] {
      return static_cast<int64_t>(inside_.size()) > most_batches_ || bytes_ > most_bytes_;
    };
    for (; inside_.size() > 1 && is_full(); inside_.pop_front()) bytes_ -= inside_.front().second;
    LetGoBefore(inside_.front().first);
  }

  // The rows of a batch that has been put together.
  void Hold(int64_t step, BatchRows rows) {
    MutexLock lock(&mu_);
    rows_.emplace(step, std::move(rows));
  }

 private:
  void LetGoBefore(int64_t step) {
    std::map<int64_t, BatchRows> gone;  // without the lock: pools have locks of their own
    MutexLock lock(&mu_);
    while (!rows_.empty() && rows_.begin()->first < step) {
      gone.insert(rows_.extract(rows_.begin()));
    }
  }

  const int64_t most_batches_;
  const int64_t most_bytes_;
  std::deque<std::pair<int64_t, int64_t>> inside_;  // step and bytes
  int64_t bytes_ = 0;
  Mutex mu_;
  std::map<int64_t, BatchRows> rows_ ABSL_GUARDED_BY(mu_);  // by step
};

}  // namespace vicinity
