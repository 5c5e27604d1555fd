#include "proto/telemetry/trace/otlp_json.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "proto/version.h"

namespace vicinity {
namespace {

using Json = nlohmann::json;

TEST_CASE("a span has the fields of OTLP, ids in hex and nanoseconds as strings", "[otlp_json]") {
  Span span;
  span.context = {0x4bf92f3577b34da6, 0xa3ce929d0e0e4736, 0x00f067aa0ba902b7, true};
  span.parent = 0xab;
  span.kind = SpanKind::kServer;
  span.name = "FetchRows";
  span.start = 1'700'000'000'123'456'789;
  span.end = 1'700'000'000'223'456'789;
  span.code = absl::StatusCode::kUnavailable;
  span.Set("bytes", int64_t{1} << 60);
  span.Set("peer", "ipv4:127.0.0.1:5000");
  const std::string text = OtlpJson({{"service.name", "vicinityd"}}, {{span}});
  CHECK(text.find('\n') == std::string::npos);
  const Json expected = {
      {"resourceSpans",
       {{{"resource",
          {{"attributes", {{{"key", "service.name"}, {"value", {{"stringValue", "vicinityd"}}}}}}}},
         {"scopeSpans",
          {{{"scope", {{"name", "vicinity"}, {"version", kVersion}}},
            {"spans",
             {{{"traceId", "4bf92f3577b34da6a3ce929d0e0e4736"},
               {"spanId", "00f067aa0ba902b7"},
               {"parentSpanId", "00000000000000ab"},
               {"name", "FetchRows"},
               {"kind", 2},
               {"startTimeUnixNano", "1700000000123456789"},
               {"endTimeUnixNano", "1700000000223456789"},
               {"attributes",
                {{{"key", "bytes"}, {"value", {{"intValue", "1152921504606846976"}}}},
                 {{"key", "peer"}, {"value", {{"stringValue", "ipv4:127.0.0.1:5000"}}}}}},
               {"status", {{"code", 2}, {"message", "UNAVAILABLE"}}}}}}}}}}}}};
  CHECK(Json::parse(text) == expected);
}

TEST_CASE("the whole has no parent, what went well no status, and nothing is no span",
          "[otlp_json]") {
  Span span;
  span.context = StartTrace();
  const Json json = Json::parse(OtlpJson({}, {{span}, {span, span}}));
  const Json& spans = json["resourceSpans"][0]["scopeSpans"][0]["spans"];
  REQUIRE(spans.size() == 3);
  CHECK_FALSE(spans[0].contains("parentSpanId"));
  CHECK(spans[0]["status"] == Json::object());
  CHECK(Json::parse(OtlpJson({}, {}))["resourceSpans"][0]["scopeSpans"][0]["spans"].empty());
}

TEST_CASE("text of any bytes is JSON still", "[otlp_json]") {
  Span span;
  span.context = StartTrace();
  span.name = std::string("\xff\xfe\0\"\n", 5);
  const Json json = Json::parse(OtlpJson({{"service.name", "\xc3"}}, {{span}}));
  CHECK(json["resourceSpans"].size() == 1);
}

}  // namespace
}  // namespace vicinity
