// Which operation a call is part of, as W3C Trace Context writes it: the id of the whole (a batch
// of a loader, a call of a user) and of the part. It travels with every RPC as the metadata
// `traceparent`, so that what the logs of several servers say can be put together.
//
//   traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
//                version, trace, span (the part, here the one RPC), flags (1: sampled)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vicinity {

// The metadata key.
inline constexpr char kTraceparent[] = "traceparent";

// A value of 32 bytes; copies are as good as the original.
struct TraceContext {
  uint64_t trace_high = 0;
  uint64_t trace_low = 0;
  uint64_t span = 0;
  bool sampled = false;  // whoever records spans records those of this trace

  // False: of no trace, and nothing travels.
  bool is_valid() const { return (trace_high | trace_low) != 0 && span != 0; }
  friend bool operator==(const TraceContext& a, const TraceContext& b) {
    return a.trace_high == b.trace_high && a.trace_low == b.trace_low && a.span == b.span &&
           a.sampled == b.sampled;
  }
};

// A new trace of random ids, not sampled. Threads: any number; in some ten nanoseconds.
TraceContext StartTrace();

// A part of `parent`, with a span id of its own. Of no trace: so is the part.
TraceContext StartSpan(const TraceContext& parent);

// As above, 55 characters. `context` must be valid.
std::string Traceparent(const TraceContext& context);

// None: not what the standard allows, ids of zeros and capital letters included. Of a later version
// than 00 what is known is read, as the standard wants.
std::optional<TraceContext> ParseTraceparent(std::string_view text);

// The trace's id, 32 hex digits, for logs and whoever looks for it there.
std::string TraceId(const TraceContext& context);

}  // namespace vicinity
