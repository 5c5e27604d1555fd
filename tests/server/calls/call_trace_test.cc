#include "server/calls/call_trace.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "proto/admin.pb.h"
#include "proto/telemetry/trace_context.h"
#include "server/calls/server_tracing.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using Json = nlohmann::json;

constexpr char kPath[] = "/vicinity.proto.Graph/FetchRows";
constexpr char kSampled[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
constexpr char kNotSampled[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";

std::unique_ptr<ServerTracing> Tracing(std::chrono::milliseconds slow) {
  TracingOptions options;
  options.slow_call = slow;
  VICINITY_ASSERT_OK_AND_ASSIGN(auto tracing, ServerTracing::Start(options, "a"));
  return tracing;
}

std::string RunCall(ServerTracing* tracing, const std::string& traceparent) {
  CallTrace call;
  call.Begins(tracing, kPath, traceparent, 100);
  call.Works();
  call.Made(2000);
  call.Sends();
  call.Works();
  call.Made(3000);
  call.Sends();
  call.Ends(absl::StatusCode::kOk);
  return call.Over("ipv4:127.0.0.1:5");
}

Json SpansOf(const ServerTracing& tracing) {
  proto::TracesRequest request;
  request.set_slowest(100);
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::TracesReply reply, tracing.Show(request));
  return Json::parse(reply.otlp())["resourceSpans"][0]["scopeSpans"][0]["spans"];
}

int64_t Moment(const Json& span, const char* which) {
  return std::stoll(span[which].get<std::string>());
}

TEST_CASE("a sampled call is a span of its caller's with its parts", "[call_trace]") {
  const auto tracing = Tracing(std::chrono::milliseconds(0));
  CHECK(RunCall(tracing.get(), kSampled).empty());
  const Json spans = SpansOf(*tracing);
  REQUIRE(spans.size() == 4);
  std::map<std::string, Json> by_name;
  for (const Json& span : spans) by_name[span["name"]] = span;
  const Json& call = by_name["FetchRows"];
  CHECK(call["traceId"] == "4bf92f3577b34da6a3ce929d0e0e4736");
  CHECK(call["parentSpanId"] == "00f067aa0ba902b7");
  CHECK(call["spanId"] != "00f067aa0ba902b7");
  CHECK(call["kind"] == 2);
  for (const char* part : {"queue", "work", "send"}) {
    CAPTURE(part);
    REQUIRE(by_name.count(part) == 1);
    CHECK(by_name[part]["parentSpanId"] == call["spanId"]);
    CHECK(Moment(by_name[part], "startTimeUnixNano") >= Moment(call, "startTimeUnixNano"));
    CHECK(Moment(by_name[part], "endTimeUnixNano") <= Moment(call, "endTimeUnixNano"));
  }
  std::map<std::string, Json> attributes;
  for (const Json& each : call["attributes"]) attributes[each["key"]] = each["value"];
  CHECK(attributes["request_bytes"]["intValue"] == "100");
  CHECK(attributes["reply_bytes"]["intValue"] == "5000");
  CHECK(attributes["peer"]["stringValue"] == "ipv4:127.0.0.1:5");
  CHECK(attributes["rpc.method"]["stringValue"] == "vicinity.proto.Graph/FetchRows");
}

TEST_CASE("what is not sampled, or said in another way, leaves nothing", "[call_trace]") {
  const auto tracing = Tracing(std::chrono::milliseconds(0));
  const std::string huge(1 << 20, '0');
  for (const std::string& text :
       {std::string(kNotSampled), std::string(), std::string(kSampled) + "\n", huge,
        std::string("00-") + std::string(32, '0') + "-00f067aa0ba902b7-01",
        std::string("\0\xff", 2), std::string(kSampled).substr(1)}) {
    CHECK(RunCall(tracing.get(), text).empty());
  }
  CHECK(SpansOf(*tracing).empty());
  CHECK(RunCall(nullptr, kSampled).empty());
}

TEST_CASE("a call that never had its turn has waited to its end", "[call_trace]") {
  const auto tracing = Tracing(std::chrono::milliseconds(0));
  CallTrace call;
  call.Begins(tracing.get(), kPath, kSampled, 0);
  call.Ends(absl::StatusCode::kResourceExhausted);
  call.Over("peer");
  const Json spans = SpansOf(*tracing);
  REQUIRE(spans.size() == 2);
  CHECK(spans[0]["status"]["message"] == "RESOURCE_EXHAUSTED");
  CHECK(spans[1]["name"] == "queue");
  CHECK(spans[1]["endTimeUnixNano"] == spans[0]["endTimeUnixNano"]);
}

TEST_CASE("a call that takes long has a line that says where", "[call_trace]") {
  const auto tracing = Tracing(std::chrono::milliseconds(1));
  CallTrace call;
  call.Begins(tracing.get(), kPath, "", 0);
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(2)) {
  }
  call.Works();
  call.Made(1 << 20);
  call.Sends();
  call.Ends(absl::StatusCode::kOk);
  const std::string line = call.Over("ipv4:10.0.0.1:5");
  INFO(line);
  CHECK(absl::StrContains(line, "slow call: FetchRows by ipv4:10.0.0.1:5 took 0.0"));
  CHECK(absl::StrContains(line, "sent 1.0 MiB"));
  CHECK(SpansOf(*tracing).empty());
  const auto patient = Tracing(std::chrono::hours(1));
  CHECK(RunCall(patient.get(), kSampled).empty());
}

}  // namespace
}  // namespace vicinity
