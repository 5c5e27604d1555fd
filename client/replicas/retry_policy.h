// Which failures another attempt may mend, and when it comes.
#pragma once

#include <chrono>

#include "absl/status/status.h"

namespace vicinity {

// What a failed attempt says, and about whom.
enum class FailureKind {
  kCall,          // the call is wrong or was given up: no attempt can do better
  kServer,        // no answer, no connection, or an answer that makes no sense
  kCopy,          // this server's copy of the shard, or the way of this answer, is damaged
  kBusy,          // the server refuses for now
  kElsewhere,     // of a live graph: it is not the one that writes the shard, or lacks the version
                  // that is asked for, which another server may have
  kOtherDataset,  // the server is of another dataset than the one that was opened, or without the
                  // shard
};

// `of_writer`: only the server that writes the shard can answer the call.
FailureKind KindOf(const absl::Status& failure, bool of_writer = false);

struct RetryPolicy {
  // Of a call, hedges not counted; where that is more, as many as take every replica out of use,
  // and one for who comes back.
  int max_attempts = 4;
  std::chrono::nanoseconds backoff_base = std::chrono::milliseconds(10);
  std::chrono::nanoseconds backoff_cap = std::chrono::seconds(1);
  // The two limits of a call that moves up to 32 MiB; larger ones have as many times as much.
  std::chrono::nanoseconds attempt_timeout = std::chrono::seconds(5);
  std::chrono::nanoseconds call_budget = std::chrono::seconds(15);  // all attempts and waits

  // The wait after the n-th failure, n from 1, is uniform over [0, min(cap, base * 2^(n - 1))]
  // ("full jitter").
  std::chrono::nanoseconds MaxBackoff(int failures) const;
};

}  // namespace vicinity
