#include "proto/telemetry/trace/tracer.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace vicinity {
namespace {

uint64_t ThresholdOf(double share) {
  if (!(share > 0)) return 0;
  return share >= 1 ? UINT64_MAX : static_cast<uint64_t>(std::ldexp(share, 64));
}

}  // namespace

Tracer::Tracer(Options options)
    : options_(std::move(options)), threshold_(ThresholdOf(options_.share)) {}

TraceContext Tracer::StartRoot() const {
  TraceContext root = StartTrace();
  root.sampled = root.trace_low < threshold_ || threshold_ == UINT64_MAX;
  return root;
}

bool Tracer::Admits(const TraceContext& trace) {
  if (!trace.sampled) return false;
  const int64_t second = std::chrono::duration_cast<std::chrono::seconds>(
                             std::chrono::steady_clock::now().time_since_epoch())
                             .count();
  int64_t before = second_.load(std::memory_order_relaxed);
  if (before != second && second_.compare_exchange_strong(before, second)) in_second_ = 0;
  if (in_second_.fetch_add(1, std::memory_order_relaxed) < options_.max_ops_per_second) return true;
  refused_.Add();
  return false;
}

void Tracer::Record(const Spans& spans) {
  recorded_.Add(static_cast<int64_t>(spans.size()));
  for (SpanSink* sink : options_.sinks) sink->Take(spans);
}

void Tracer::AddMetrics(const char* process, MetricRegistry::Group* group) const {
  const std::string prefix = absl::StrCat("vicinity_", process, "_trace_");
  group->Add({prefix + "spans_total", "Spans of sampled traces that were recorded"}, {},
             &recorded_);
  group->Add({prefix + "refused_total",
              "Operations of sampled traces that were not recorded, for their number"},
             {}, &refused_);
}

SpanTree::SpanTree(const TraceContext& context, uint64_t parent, SpanKind kind, std::string name,
                   Clock::time_point start) {
  Span& span = spans_.emplace_back();
  span.context = context;
  span.parent = parent;
  span.kind = kind;
  span.name = std::move(name);
  span.start = UnixNanoseconds(start);
}

size_t SpanTree::Begin(std::string name, SpanKind kind, Clock::time_point start) {
  const TraceContext whole = root().context;
  Span& span = spans_.emplace_back();
  span.context = StartSpan(whole);
  span.parent = whole.span;
  span.kind = kind;
  span.name = std::move(name);
  span.start = UnixNanoseconds(start);
  return spans_.size() - 1;
}

void SpanTree::End(size_t number, absl::StatusCode code, Clock::time_point end) {
  Span& span = spans_[number];
  span.code = code;
  span.end = std::max(span.start, UnixNanoseconds(end));
}

Spans SpanTree::Finish(absl::StatusCode code, Clock::time_point end) {
  root().end = UnixNanoseconds(end);
  for (const Span& span : spans_) root().end = std::max({root().end, span.start, span.end});
  for (Span& span : spans_) {
    if (span.end == 0) span.end = root().end;
  }
  root().code = code;
  return std::move(spans_);
}

}  // namespace vicinity
