#include "client/replicas/latency_quantile.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <vector>

#include "proto/common/random.h"

namespace vicinity {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

TEST_CASE("a quantile of few durations is not known", "[latency_quantile]") {
  LatencyQuantile quantile(0.95);
  for (int64_t i = 1; i < LatencyQuantile::kFewest; ++i) {
    quantile.Add(milliseconds(1));
    CHECK_FALSE(quantile.Get().has_value());
  }
  quantile.Add(milliseconds(1));
  REQUIRE(quantile.Get().has_value());
  CHECK(*quantile.Get() >= milliseconds(1));
  CHECK(*quantile.Get() < microseconds(1100));
}

TEST_CASE("the quantile is that of all durations to within 10 %", "[latency_quantile]") {
  NodeDraws draws(3, 0);
  LatencyQuantile quantile(0.95);
  std::vector<int64_t> all;
  for (int i = 0; i < 1600; ++i) {
    // From 10 us to some 100 ms, most of them short.
    all.push_back(static_cast<int64_t>(10'000 << draws.Below(14)) +
                  static_cast<int64_t>(draws.Below(9000)));
    quantile.Add(nanoseconds(all.back()));
  }
  std::sort(all.begin(), all.end());
  const int64_t exact = all[1600 * 95 / 100 - 1];
  CHECK(quantile.Get()->count() >= exact);
  CHECK(quantile.Get()->count() < exact * 11 / 10);
}

TEST_CASE("what is long past is forgotten", "[latency_quantile]") {
  LatencyQuantile quantile(0.95);
  for (int i = 0; i < 5000; ++i) quantile.Add(milliseconds(100));
  for (int i = 0; i < 20'000; ++i) quantile.Add(milliseconds(1));
  CHECK(*quantile.Get() < milliseconds(2));
}

TEST_CASE("durations beyond all classes count as the longest", "[latency_quantile]") {
  LatencyQuantile quantile(0.5);
  for (int i = 0; i < 40; ++i) quantile.Add(std::chrono::hours(24 * 365));
  CHECK(*quantile.Get() > std::chrono::hours(1));
  for (int i = 0; i < 400; ++i) quantile.Add(nanoseconds(0));
  CHECK(*quantile.Get() <= microseconds(1));
}

}  // namespace
}  // namespace vicinity
