#include "server/calls/server_tracing.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "proto/admin.pb.h"
#include "proto/telemetry/registry.h"
#include "proto/telemetry/trace/span.h"
#include "proto/telemetry/trace/tracer.h"
#include "proto/telemetry/trace_context.h"
#include "tests/proto/telemetry/trace/collector.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using Json = nlohmann::json;

std::unique_ptr<ServerTracing> Start(const TracingOptions& options) {
  VICINITY_ASSERT_OK_AND_ASSIGN(auto tracing, ServerTracing::Start(options, "server a"));
  return tracing;
}

TraceContext Record(ServerTracing* tracing, std::chrono::nanoseconds length, size_t text = 0) {
  const TraceContext trace = StartTrace();
  const auto start = SpanTree::Clock::now();
  SpanTree tree(trace, 0, SpanKind::kServer, "FetchRows", start);
  for (size_t i = 0; text > 0 && i < Span::kMaxAttributes; ++i) {
    tree.root().Set("text", std::string(text, 'x'));
  }
  tracing->tracer()->Record(tree.Finish(absl::StatusCode::kOk, start + length));
  return trace;
}

Json SpansIn(const std::string& otlp) {
  return Json::parse(otlp)["resourceSpans"][0]["scopeSpans"][0]["spans"];
}

TEST_CASE("the slowest are shown, or those that are named", "[server_tracing]") {
  const auto tracing = Start(TracingOptions());
  const TraceContext quick = Record(tracing.get(), std::chrono::milliseconds(1));
  const TraceContext slow = Record(tracing.get(), std::chrono::milliseconds(9));
  proto::TracesRequest request;
  request.set_slowest(1);
  VICINITY_ASSERT_OK_AND_ASSIGN(proto::TracesReply reply, tracing->Show(request));
  REQUIRE(SpansIn(reply.otlp()).size() == 1);
  CHECK(SpansIn(reply.otlp())[0]["traceId"] == TraceId(slow));
  const Json resource = Json::parse(reply.otlp())["resourceSpans"][0]["resource"]["attributes"];
  CHECK(resource[0]["value"]["stringValue"] == "vicinityd");
  CHECK(resource[1]["value"]["stringValue"] == "server a");
  request.add_trace_ids(TraceId(quick));
  request.add_trace_ids("no id at all");
  VICINITY_ASSERT_OK_AND_ASSIGN(reply, tracing->Show(request));
  REQUIRE(SpansIn(reply.otlp()).size() == 1);
  CHECK(SpansIn(reply.otlp())[0]["traceId"] == TraceId(quick));
}

TEST_CASE("an answer is bounded, and so is a question", "[server_tracing]") {
  const auto tracing = Start(TracingOptions());
  for (int i = 0; i < 3000; ++i) Record(tracing.get(), std::chrono::milliseconds(i), 256);
  proto::TracesRequest request;
  request.set_slowest(1000);
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::TracesReply reply, tracing->Show(request));
  CHECK(reply.otlp().size() < 4'000'000);
  CHECK(SpansIn(reply.otlp()).size() + reply.left_out() == 1000);
  request.set_slowest(1001);
  VICINITY_CHECK_CODE(tracing->Show(request).status(), absl::StatusCode::kInvalidArgument);
}

TEST_CASE("slow calls have ten lines a second, and the next one counts the others",
          "[server_tracing]") {
  TracingOptions options;
  options.slow_call = std::chrono::milliseconds(100);
  const auto tracing = Start(options);
  int64_t left_out = -1;
  CHECK_FALSE(tracing->IsSlow(std::chrono::milliseconds(99), &left_out));
  int lines = 0;
  int64_t counted = 0;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 1000; ++i) {
    if (!tracing->IsSlow(std::chrono::milliseconds(100), &left_out)) continue;
    ++lines;
    counted += left_out;
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  CHECK(lines >= 10);
  CHECK(lines <= 10 * (static_cast<int>(seconds) + 2));
  CHECK(lines + counted <= 1000);
  options.slow_call = std::chrono::milliseconds(0);
  CHECK_FALSE(Start(options)->IsSlow(std::chrono::hours(1), &left_out));
}

TEST_CASE("spans go to the collector that is named, and all is counted", "[server_tracing]") {
  Collector collector;
  TracingOptions options;
  options.otlp_endpoint = collector.endpoint();
  {
    const auto tracing = Start(options);
    MetricRegistry registry;
    MetricRegistry::Group group(&registry);
    tracing->AddMetrics(&group);
    CHECK(registry.Read().size() == 5);
    Record(tracing.get(), std::chrono::milliseconds(1));
  }
  REQUIRE(collector.requests().size() == 1);
  CHECK(SpansIn(collector.requests()[0].body).size() == 1);
  options.otlp_endpoint = "no url";
  VICINITY_CHECK_CODE(ServerTracing::Start(options, "a").status(),
                      absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity
