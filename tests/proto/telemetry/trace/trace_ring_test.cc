#include "proto/telemetry/trace/trace_ring.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "proto/telemetry/trace_context.h"

namespace vicinity {
namespace {

constexpr int64_t kBytes = 64 << 10;

Spans Operation(const std::string& name, int64_t length, const TraceContext& trace) {
  Span span;
  span.context = StartSpan(trace);
  span.name = name;
  span.start = 1000;
  span.end = span.start + length;
  return {span};
}

std::vector<int64_t> LengthsOf(const std::vector<Spans>& operations) {
  std::vector<int64_t> lengths;
  for (const Spans& each : operations) lengths.push_back(each[0].end - each[0].start);
  return lengths;
}

TEST_CASE("the slowest stay when thousands have come after them", "[trace_ring]") {
  TraceRing ring(kBytes);
  ring.Take(Operation("FetchRows", 1'000'000, StartTrace()));
  ring.Take(Operation("Walk", 5'000'000, StartTrace()));
  for (int i = 0; i < 100'000; ++i) ring.Take(Operation("FetchRows", i % 1000, StartTrace()));
  CHECK(LengthsOf(ring.Slowest(3)) == std::vector<int64_t>{5'000'000, 1'000'000, 999});
  CHECK(ring.num_bytes() <= 2 * kBytes);
}

TEST_CASE("a ring is bounded whatever comes", "[trace_ring]") {
  TraceRing ring(kBytes);
  for (int i = 0; i < 2000; ++i) {
    Spans spans = Operation("name " + std::to_string(i), i, StartTrace());
    for (int k = 0; k < 20; ++k) spans[0].Set("text", std::string(1000, 'x'));
    ring.Take(spans);
    REQUIRE(ring.num_bytes() <= 2 * kBytes);
  }
  const int64_t before = ring.num_bytes();
  ring.Take(Spans(10'000, Operation("huge", 1 << 30, StartTrace())[0]));
  CHECK(ring.num_bytes() == before);
  CHECK(ring.Slowest(1 << 20).size() <= static_cast<size_t>(2 * kBytes / sizeof(Span)));
  ring.Take({});
  CHECK(ring.num_bytes() == before);
}

TEST_CASE("a trace comes whole, its slowest operation first", "[trace_ring]") {
  TraceRing ring(kBytes);
  const TraceContext trace = StartTrace();
  ring.Take(Operation("SampleNeighbors", 10, trace));
  ring.Take(Operation("FetchRows", 30, trace));
  ring.Take(Operation("FetchRows", 20, StartTrace()));
  ring.Take(Operation("FetchRows", 5, trace));
  CHECK(LengthsOf(ring.Slowest(1)) == std::vector<int64_t>{30, 10, 5});
  CHECK(LengthsOf(ring.Slowest(2)) == std::vector<int64_t>{30, 20, 10, 5});
  CHECK(ring.Slowest(0).empty());
  CHECK(LengthsOf(ring.Of({TraceId(trace)})) == std::vector<int64_t>{10, 30, 5});
  CHECK(ring.Of({"nonsense"}).empty());
}

TEST_CASE("threads put in while others look", "[trace_ring]") {
  TraceRing ring(kBytes);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&ring, t] {
      for (int i = 0; i < 500; ++i) {
        ring.Take(Operation("op " + std::to_string(t), i, StartTrace()));
        if (i % 50 == 0) ring.Slowest(5);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(LengthsOf(ring.Slowest(4)) == std::vector<int64_t>{499, 499, 499, 499});
}

}  // namespace
}  // namespace vicinity
