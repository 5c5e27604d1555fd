// What comes along with everything that is asked on behalf of one operation, from the loader or a
// user's call down to the wire.
#pragma once

#include "client/shards/cancellation.h"
#include "proto/telemetry/trace_context.h"

namespace vicinity {

// A value of some 40 bytes. The cancellation outlives what was asked.
struct CallContext {
  // Implicit: what is asked in tests and tools is part of nothing, and many can be cancelled only.
  CallContext(Cancellation* cancel) : cancel(cancel) {}  // NOLINT(google-explicit-constructor)
  CallContext(Cancellation* cancel, const TraceContext& trace) : cancel(cancel), trace(trace) {}

  bool cancelled() const { return cancel != nullptr && cancel->cancelled(); }

  Cancellation* cancel;  // null: never cancelled
  TraceContext trace;    // invalid: of no trace
};

// Of a call that a user makes and waits for: a trace of its own, never cancelled.
inline CallContext StartOperation() { return {nullptr, StartTrace()}; }

}  // namespace vicinity
