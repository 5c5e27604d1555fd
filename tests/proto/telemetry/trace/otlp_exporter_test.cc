#include "proto/telemetry/trace/otlp_exporter.h"

#include <httplib.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/proto/telemetry/trace/collector.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

constexpr std::chrono::seconds kLimit(30);

Spans Operation(size_t size) {
  Spans spans(size);
  for (Span& span : spans) {
    span.context = StartTrace();
    span.name = "FetchRows";
  }
  return spans;
}

size_t NumSpans(const std::string& request) {
  return nlohmann::json::parse(request)["resourceSpans"][0]["scopeSpans"][0]["spans"].size();
}

TEST_CASE("a collector gets all spans, as JSON, at the standard's path", "[otlp_exporter]") {
  Collector collector;
  OtlpExporter::Options options;
  options.url = OtlpUrl(collector.endpoint());
  options.resource = {{"service.name", "test"}};
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<OtlpExporter> exporter,
                                OtlpExporter::Start(options));
  for (int i = 0; i < 10; ++i) exporter->Take(Operation(3));
  REQUIRE(exporter->Flush(kLimit));
  size_t spans = 0;
  for (const Collector::Request& request : collector.requests()) {
    CHECK(request.path == "/v1/traces");
    CHECK(request.type == "application/json");
    spans += NumSpans(request.body);
  }
  CHECK(spans == 30);
  CHECK(exporter->sent() == 30);
  CHECK(exporter->dropped() == 0);
}

TEST_CASE("what a collector refuses is dropped and counted, once", "[otlp_exporter]") {
  Collector collector;
  collector.AnswerWith(503);
  OtlpExporter::Options options;
  options.url = OtlpUrl(collector.endpoint());
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<OtlpExporter> exporter,
                                OtlpExporter::Start(options));
  exporter->Take(Operation(2));
  REQUIRE(exporter->Flush(kLimit));
  CHECK(exporter->dropped() == 2);
  CHECK(collector.requests().size() == 1);
  collector.AnswerWith(200);
  exporter->Take(Operation(1));
  REQUIRE(exporter->Flush(kLimit));
  CHECK(exporter->sent() == 1);
}

TEST_CASE("without a collector the queue is bounded and its owner does not wait",
          "[otlp_exporter]") {
  std::string gone;
  {
    const Collector collector;
    gone = collector.endpoint();
  }
  OtlpExporter::Options options;
  options.url = OtlpUrl(gone);
  options.queue_bytes = 10'000;
  options.pause = std::chrono::hours(1);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<OtlpExporter> exporter,
                                OtlpExporter::Start(options));
  for (int i = 0; i < 1000; ++i) exporter->Take(Operation(1));
  CHECK(exporter->dropped() >= 900);
  REQUIRE(exporter->Flush(kLimit));
  CHECK(exporter->dropped() == 1000);
  CHECK(exporter->sent() == 0);
}

TEST_CASE("what is there at the end is sent still", "[otlp_exporter]") {
  Collector collector;
  OtlpExporter::Options options;
  options.url = OtlpUrl(collector.endpoint() + "/");
  options.pause = std::chrono::hours(1);
  {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<OtlpExporter> exporter,
                                  OtlpExporter::Start(options));
    exporter->Take(Operation(4));
  }
  REQUIRE(collector.requests().size() == 1);
  CHECK(NumSpans(collector.requests()[0].body) == 4);
}

TEST_CASE("a collector that never answers holds nobody up at the end", "[otlp_exporter]") {
  httplib::Server silent;
  std::atomic<bool> over{false};
  silent.Post(".*", [&over](const httplib::Request&, httplib::Response&) {
    while (!over) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  const int port = silent.bind_to_any_port("127.0.0.1");
  std::thread thread([&silent] { silent.listen_after_bind(); });
  while (!silent.is_running()) std::this_thread::yield();
  const auto start = std::chrono::steady_clock::now();
  {
    OtlpExporter::Options options;
    options.url = OtlpUrl("http://127.0.0.1:" + std::to_string(port));
    options.limit = std::chrono::minutes(10);
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<OtlpExporter> exporter,
                                  OtlpExporter::Start(options));
    exporter->Take(Operation(1));
    CHECK_FALSE(exporter->Flush(std::chrono::milliseconds(10)));
    exporter->Take(Operation(1));
  }
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::minutes(1));
  over = true;
  silent.stop();
  thread.join();
}

TEST_CASE("a file gets a request a line, and no more than it may", "[otlp_exporter]") {
  const testing::TempDir dir;
  OtlpExporter::Options options;
  options.file = dir.path() + "/traces.jsonl";
  options.max_file_bytes = 3000;
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<OtlpExporter> exporter,
                                OtlpExporter::Start(options));
  for (int i = 0; i < 50; ++i) {
    exporter->Take(Operation(1));
    REQUIRE(exporter->Flush(kLimit));
  }
  std::ifstream file(options.file);
  int64_t lines = 0;
  size_t bytes = 0;
  for (std::string line; std::getline(file, line); ++lines) {
    CHECK(NumSpans(line) == 1);
    bytes += line.size() + 1;
  }
  CHECK(lines > 0);
  CHECK(bytes <= 3000);
  CHECK(exporter->sent() == lines);
  CHECK(exporter->dropped() == 50 - lines);
}

TEST_CASE("what is no URL and no file is refused", "[otlp_exporter]") {
  for (const char* url : {"localhost:4318", "ftp://host/", "http://", "http:///v1/traces"}) {
    OtlpExporter::Options options;
    options.url = url;
    CAPTURE(url);
    VICINITY_CHECK_CODE(OtlpExporter::Start(options).status(), absl::StatusCode::kInvalidArgument);
  }
  OtlpExporter::Options options;
  options.file = "/no/such/folder/traces.jsonl";
  VICINITY_CHECK_CODE(OtlpExporter::Start(options).status(), absl::StatusCode::kNotFound);
}

TEST_CASE("the option goes before the environment", "[otlp_exporter]") {
  unsetenv("OTEL_EXPORTER_OTLP_ENDPOINT");
  unsetenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
  CHECK(OtlpUrl("").empty());
  setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318/", 1);
  CHECK(OtlpUrl("") == "http://collector:4318/v1/traces");
  CHECK(OtlpUrl("https://other/base") == "https://other/base/v1/traces");
  setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://traces:1/whole", 1);
  CHECK(OtlpUrl("") == "http://traces:1/whole");
  setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "localhost:4317", 1);  // as gRPC has it
  CHECK(OtlpUrl("") == "http://collector:4318/v1/traces");
  unsetenv("OTEL_EXPORTER_OTLP_ENDPOINT");
  unsetenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
}

}  // namespace
}  // namespace vicinity
