#include "proto/telemetry/trace/span.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <thread>

namespace vicinity {
namespace {

TEST_CASE("a span's attributes are few and short", "[span]") {
  Span span;
  for (int i = 0; i < 1000; ++i) span.Set("number", i);
  CHECK(span.attributes.size() == Span::kMaxAttributes);
  Span long_text;
  long_text.Set("text", std::string(1 << 20, 'x'));
  CHECK(std::get<std::string>(long_text.attributes[0].second).size() == Span::kMaxTextBytes);
  CHECK(long_text.num_bytes() >= static_cast<int64_t>(Span::kMaxTextBytes));
}

TEST_CASE("moments keep their distances and are today's", "[span]") {
  const auto moment = std::chrono::steady_clock::now();
  const int64_t first = UnixNanoseconds(moment);
  CHECK(UnixNanoseconds(moment + std::chrono::microseconds(7)) - first == 7000);
  const int64_t now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                          std::chrono::system_clock::now().time_since_epoch())
                          .count();
  CHECK(first <= now + 1'000'000);
  CHECK(first >= now - 60'000'000'000);
}

}  // namespace
}  // namespace vicinity
