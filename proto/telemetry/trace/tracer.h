// Decides what is traced, and hands what was to whoever keeps it.
//
//   a client   StartRoot: one of 1 / share batches is sampled, and every call of it says so
//   a server   Admits: what its caller has sampled, as long as there is not too much of it
//
// What is not sampled costs a look at a flag. What is costs some microseconds for each span.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "proto/telemetry/metric.h"
#include "proto/telemetry/registry.h"
#include "proto/telemetry/trace/span.h"
#include "proto/telemetry/trace_context.h"

namespace vicinity {

// Threads:  any number.
// Lifetime: the sinks outlive it.
class Tracer {
 public:
  struct Options {
    double share = 0;                // of roots, from 0 to 1
    int64_t max_ops_per_second = 0;  // operations recorded, of whoever's; 0: none
    std::vector<SpanSink*> sinks{};
  };

  explicit Tracer(Options options);

  // A new trace; whether it is sampled depends on its id alone.
  TraceContext StartRoot() const;

  // Whether an operation of this trace is recorded now: it is sampled, and this second's number is
  // not used up. False is counted.
  bool Admits(const TraceContext& trace);

  // To all sinks.
  void Record(const Spans& spans);

  // Spans recorded, and operations that were not for their number. It must outlive the group.
  void AddMetrics(const char* process, MetricRegistry::Group* group) const;
  int64_t recorded() const { return recorded_.value(); }
  int64_t refused() const { return refused_.value(); }

 private:
  const Options options_;
  const uint64_t threshold_;  // of the low half of ids: below it they are sampled
  std::atomic<int64_t> second_{0};
  std::atomic<int64_t> in_second_{0};
  Counter recorded_;
  Counter refused_;
};

// The spans of one operation while it runs: the whole, and parts behind each other or beside.
//
// Threads: one at a time.
class SpanTree {
 public:
  using Clock = std::chrono::steady_clock;

  // The whole, which begins now; `context` is its own id, `parent` what it is a part of.
  SpanTree(const TraceContext& context, uint64_t parent, SpanKind kind, std::string name,
           Clock::time_point start = Clock::now());

  Span& root() { return spans_.front(); }
  // A part of it that begins now. The number names it below.
  size_t Begin(std::string name, SpanKind kind = SpanKind::kInternal,
               Clock::time_point start = Clock::now());
  Span& part(size_t number) { return spans_[number]; }
  void End(size_t number, absl::StatusCode code = absl::StatusCode::kOk,
           Clock::time_point end = Clock::now());

  // All of them, with the whole ended, and with it parts that were not.
  Spans Finish(absl::StatusCode code, Clock::time_point end = Clock::now());

 private:
  Spans spans_;
};

}  // namespace vicinity
