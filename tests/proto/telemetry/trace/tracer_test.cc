#include "proto/telemetry/trace/tracer.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <vector>

#include "proto/telemetry/registry.h"

namespace vicinity {
namespace {

class Kept final : public SpanSink {
 public:
  void Take(const Spans& spans) override { operations.push_back(spans); }
  std::vector<Spans> operations;
};

double ShareSampled(double share, int roots) {
  Tracer::Options options;
  options.share = share;
  const Tracer tracer(options);
  int sampled = 0;
  for (int i = 0; i < roots; ++i) sampled += tracer.StartRoot().sampled ? 1 : 0;
  return static_cast<double>(sampled) / roots;
}

TEST_CASE("as many roots are sampled as was asked for", "[tracer]") {
  CHECK(ShareSampled(0, 10'000) == 0);
  CHECK(ShareSampled(-1, 100) == 0);
  CHECK(ShareSampled(std::nan(""), 100) == 0);
  CHECK(ShareSampled(1, 10'000) == 1);
  // Six deviations.
  CHECK(std::abs(ShareSampled(0.01, 100'000) - 0.01) < 6 * std::sqrt(0.01 * 0.99 / 100'000));
  CHECK(std::abs(ShareSampled(0.5, 100'000) - 0.5) < 6 * std::sqrt(0.25 / 100'000));
}

TEST_CASE("what is not sampled is not admitted, and what is not more often than allowed",
          "[tracer]") {
  Tracer::Options options;
  options.max_ops_per_second = 10;
  Tracer tracer(options);
  TraceContext trace = StartTrace();
  CHECK_FALSE(tracer.Admits(trace));
  CHECK(tracer.refused() == 0);
  trace.sampled = true;
  int admitted = 0;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 100'000; ++i) admitted += tracer.Admits(trace) ? 1 : 0;
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  CHECK(admitted >= 10);
  CHECK(admitted <= 10 * (std::floor(seconds) + 2));
  CHECK(tracer.refused() == 100'000 - admitted);
}

TEST_CASE("without a number nothing is recorded", "[tracer]") {
  Tracer tracer(Tracer::Options{});
  TraceContext trace = StartTrace();
  trace.sampled = true;
  CHECK_FALSE(tracer.Admits(trace));
}

TEST_CASE("every sink is told, and spans are counted", "[tracer]") {
  Kept first;
  Kept second;
  Tracer::Options options;
  options.sinks = {&first, &second};
  Tracer tracer(options);
  MetricRegistry registry;
  MetricRegistry::Group group(&registry);
  tracer.AddMetrics("server", &group);
  SpanTree tree(StartTrace(), 0, SpanKind::kServer, "FetchRows");
  tree.End(tree.Begin("queue"));
  tracer.Record(tree.Finish(absl::StatusCode::kOk));
  REQUIRE(first.operations.size() == 1);
  CHECK(first.operations[0].size() == 2);
  CHECK(second.operations.size() == 1);
  CHECK(tracer.recorded() == 2);
  CHECK(registry.Read().size() == 2);
}

TEST_CASE("parts are linked to their whole and lie within it", "[tracer]") {
  const TraceContext whole = StartTrace();
  const auto start = SpanTree::Clock::now();
  SpanTree tree(whole, 77, SpanKind::kClient, "batch", start);
  const size_t first = tree.Begin("first", SpanKind::kInternal, start + std::chrono::seconds(1));
  tree.End(first, absl::StatusCode::kAborted, start + std::chrono::seconds(2));
  tree.Begin("never ended", SpanKind::kInternal, start + std::chrono::seconds(3));
  const Spans spans = tree.Finish(absl::StatusCode::kAborted, start + std::chrono::seconds(1));
  REQUIRE(spans.size() == 3);
  CHECK(spans[0].context == whole);
  CHECK(spans[0].parent == 77);
  CHECK(spans[0].code == absl::StatusCode::kAborted);
  for (size_t i = 1; i < spans.size(); ++i) {
    CHECK(spans[i].parent == whole.span);
    CHECK(TraceId(spans[i].context) == TraceId(whole));
    CHECK(spans[i].context.span != whole.span);
    CHECK(spans[i].start >= spans[0].start);
    CHECK(spans[i].end >= spans[i].start);
    CHECK(spans[i].end <= spans[0].end);
  }
  CHECK(spans[1].end - spans[1].start == 1'000'000'000);
  CHECK(spans[1].code == absl::StatusCode::kAborted);
}

}  // namespace
}  // namespace vicinity
