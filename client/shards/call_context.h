// What comes along with everything that is asked on behalf of one operation, from the loader or a
// user's call down to the wire.
#pragma once

#include <cstdint>
#include <optional>

#include "client/shards/cancellation.h"
#include "partition/overlay/live_values.h"
#include "proto/common/mutex.h"
#include "proto/telemetry/trace_context.h"

namespace vicinity {

// Of a live graph: which version of each shard is read (proto/service.proto, ReadAt).
struct ReadAt {
  uint64_t version = 0;
  bool exactly = false;
  std::optional<uint64_t> term{};  // of the version; none: whichever it has
};

// The latest version of a shard that anything was answered at: of two the one of the later term,
// since that of the earlier one may have been taken back.
//
// Threads: any.
class SeenVersion {
 public:
  LogPosition Get() const {
    MutexLock lock(&mu_);
    return latest_;
  }
  void Saw(const LogPosition& at) {
    MutexLock lock(&mu_);
    if (latest_ < at) latest_ = at;
  }
  // For what is gone with the server that had it: nothing is known any more, unless more was seen
  // meanwhile.
  void Forget(const LogPosition& gone) {
    MutexLock lock(&mu_);
    if (latest_ == gone) latest_ = LogPosition();
  }

 private:
  mutable Mutex mu_;
  LogPosition latest_ ABSL_GUARDED_BY(mu_);
};

// A value of some 90 bytes. The cancellation outlives what was asked.
struct CallContext {
  // Implicit: what is asked in tests and tools is part of nothing, and many can be cancelled only.
  CallContext(Cancellation* cancel) : cancel(cancel) {}  // NOLINT(google-explicit-constructor)
  CallContext(Cancellation* cancel, const TraceContext& trace) : cancel(cancel), trace(trace) {}

  // The same, for who waits for it with a cancellation of its own.
  CallContext CancelledBy(Cancellation* other) const {
    CallContext context = *this;
    context.cancel = other;
    return context;
  }

  void Saw(const LogPosition& at) const {
    if (seen != nullptr) seen->Saw(at);
  }

  bool cancelled() const { return cancel != nullptr && cancel->cancelled(); }

  Cancellation* cancel;  // null: never cancelled
  TraceContext trace;    // invalid: of no trace
  ReadAt at = {};        // of the shard that is asked
  // Learns at which version it was answered; outlives the call. Null: nobody asks.
  SeenVersion* seen = nullptr;
};

// Of a call that a user makes and waits for: a trace of its own, never cancelled.
inline CallContext StartOperation() { return {nullptr, StartTrace()}; }

}  // namespace vicinity
