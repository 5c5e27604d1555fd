#include "proto/telemetry/trace_context.h"

#include <catch2/catch.hpp>
#include <optional>
#include <set>
#include <string>

namespace vicinity {
namespace {

constexpr char kExample[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

// The example with `text` written over it at `at`.
std::string With(size_t at, const std::string& text) {
  return std::string(kExample).replace(at, text.size(), text);
}

TEST_CASE("the standard's example is read and written", "[trace_context]") {
  const std::optional<TraceContext> trace = ParseTraceparent(kExample);
  REQUIRE(trace.has_value());
  CHECK(trace->trace_high == 0x4bf92f3577b34da6);
  CHECK(trace->trace_low == 0xa3ce929d0e0e4736);
  CHECK(trace->span == 0x00f067aa0ba902b7);
  CHECK(trace->sampled);
  CHECK(Traceparent(*trace) == kExample);
  CHECK(TraceId(*trace) == "4bf92f3577b34da6a3ce929d0e0e4736");
}

TEST_CASE("what is written is read back", "[trace_context]") {
  for (int i = 0; i < 1000; ++i) {
    TraceContext trace = StartTrace();
    trace.sampled = i % 2 == 1;
    CHECK(ParseTraceparent(Traceparent(trace)) == trace);
  }
}

TEST_CASE("of the flags only the one that is known counts", "[trace_context]") {
  CHECK(ParseTraceparent(With(53, "ff"))->sampled);
  CHECK_FALSE(ParseTraceparent(With(53, "fe"))->sampled);
}

TEST_CASE("a later version may be longer, this one may not", "[trace_context]") {
  CHECK(ParseTraceparent(With(0, "cc")).has_value());
  CHECK(ParseTraceparent(With(0, "cc") + "-what-comes").has_value());
  CHECK_FALSE(ParseTraceparent(With(0, "cc") + "what-comes").has_value());
  CHECK_FALSE(ParseTraceparent(With(0, "ff")).has_value());
  CHECK_FALSE(ParseTraceparent(std::string(kExample) + "-more").has_value());
}

TEST_CASE("anything else is no trace", "[trace_context]") {
  for (const std::string& text :
       {std::string(), std::string("00"), std::string(55, '-'), With(2, "_"), With(35, "_"),
        With(52, "_"), With(3, "4BF9"), With(10, " "), With(40, "+"), With(53, "0x"), With(0, "0g"),
        With(3, std::string(32, '0')), With(36, std::string(16, '0'))}) {
    INFO(text);
    CHECK_FALSE(ParseTraceparent(text).has_value());
  }
  const std::string whole = kExample;
  for (size_t size = 0; size < whole.size(); ++size) {
    CHECK_FALSE(ParseTraceparent(whole.substr(0, size)).has_value());
  }
}

TEST_CASE("ids are new each time, and a span stays in its trace", "[trace_context]") {
  std::set<std::string> ids;
  for (int i = 0; i < 1000; ++i) {
    const TraceContext trace = StartTrace();
    CHECK(trace.is_valid());
    ids.insert(TraceId(trace));
    const TraceContext span = StartSpan(trace);
    CHECK(TraceId(span) == TraceId(trace));
    CHECK(span.span != trace.span);
  }
  CHECK(ids.size() == 1000);
  CHECK_FALSE(TraceContext().is_valid());
  CHECK_FALSE(StartSpan(TraceContext()).is_valid());
}

}  // namespace
}  // namespace vicinity
