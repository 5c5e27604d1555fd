// What comes along with everything that is asked on behalf of one operation, from the loader or a
// user's call down to the wire.
#pragma once

#include <atomic>
#include <cstdint>

#include "client/shards/cancellation.h"
#include "proto/telemetry/trace_context.h"

namespace vicinity {

// Of a live graph: which version of each shard is read (proto/service.proto, ReadAt).
struct ReadAt {
  uint64_t version = 0;
  bool exactly = false;
};

// A value of some 70 bytes. The cancellation outlives what was asked.
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

  void Saw(uint64_t version) const {
    if (seen == nullptr) return;
    uint64_t before = seen->load(std::memory_order_relaxed);
    while (before < version && !seen->compare_exchange_weak(before, version)) {
    }
  }

  bool cancelled() const { return cancel != nullptr && cancel->cancelled(); }

  Cancellation* cancel;  // null: never cancelled
  TraceContext trace;    // invalid: of no trace
  ReadAt at = {};        // of the shard that is asked
  // Learns the highest version that anything was answered at; outlives the call. Null: nobody asks.
  std::atomic<uint64_t>* seen = nullptr;
};

// Of a call that a user makes and waits for: a trace of its own, never cancelled.
inline CallContext StartOperation() { return {nullptr, StartTrace()}; }

}  // namespace vicinity
