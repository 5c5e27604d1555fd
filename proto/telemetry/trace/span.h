// One part of a traced operation that is over: what it was, when, and of what it is a part. As
// OpenTelemetry has spans, with little more than its names.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "proto/telemetry/trace_context.h"

namespace vicinity {

// The numbers are those of OTLP.
enum class SpanKind : uint8_t {
  kInternal = 1,
  kServer = 2,  // a call that is answered here
  kClient = 3,  // a call that is made elsewhere
};

// Memory: at most kMaxAttributes, each text of kMaxTextBytes.
struct Span {
  static constexpr size_t kMaxAttributes = 16;
  static constexpr size_t kMaxTextBytes = 256;
  using Value = std::variant<int64_t, std::string>;

  // More than so many are left out, longer texts are cut.
  void Set(const char* key, int64_t value);
  void Set(const char* key, std::string value);
  int64_t num_bytes() const;  // about, in memory

  TraceContext context;  // its own id
  uint64_t parent = 0;   // the span that it is a part of; 0: it is the whole
  SpanKind kind = SpanKind::kInternal;
  std::string name;  // "FetchRows"
  // Nanoseconds since 1970.
  int64_t start = 0;
  int64_t end = 0;
  absl::StatusCode code = absl::StatusCode::kOk;
  std::vector<std::pair<const char*, Value>> attributes;  // keys of the program's lifetime
};

// What one operation leaves here, the whole first: a batch with its stages, a call with its
// attempts.
using Spans = std::vector<Span>;

// The time of day of a moment that the steady clock has told. All spans of a process go by one
// difference of the two clocks, so that a part never begins before its whole; when somebody sets
// the clock, by more than a millisecond, the difference is taken anew.
//
// Threads: any.
int64_t UnixNanoseconds(std::chrono::steady_clock::time_point time);

// Who is told of spans that are over. It must not wait.
//
// Threads: any.
class SpanSink {
 public:
  virtual ~SpanSink() = default;
  virtual void Take(const Spans& spans) = 0;
};

}  // namespace vicinity
