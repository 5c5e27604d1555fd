// Sends spans to a collector by OTLP over HTTP, in JSON, or writes them to a file, one request a
// line, as OpenTelemetry's file exporter does.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "proto/telemetry/trace/otlp_json.h"
#include "proto/telemetry/trace/span.h"

namespace vicinity {

// Whoever records puts spans into a queue, and a thread of the exporter's own sends what has come,
// once a second. What finds the queue full, and what the collector does not take, is dropped and
// counted: nothing is sent twice.
//
// Threads:  any.
// Memory:   at most twice the queue's.
// Lifetime: the destructor sends what is there, for two seconds at most, and a little longer where
//           the collector's name cannot be found.
class OtlpExporter final : public SpanSink {
 public:
  struct Options {
    std::string url;   // "http://localhost:4318/v1/traces", https too; empty: nowhere
    std::string file;  // is appended to; empty: none
    TraceResource resource;
    int64_t queue_bytes = 4 << 20;
    int64_t max_file_bytes = int64_t{1} << 30;  // then spans are dropped
    std::chrono::milliseconds pause{1000};      // between two requests
    std::chrono::milliseconds limit{5000};      // of one
  };

  // InvalidArgument naming a URL that is none; what the system says of the file;
  // ResourceExhausted if there is no thread.
  static absl::StatusOr<std::unique_ptr<OtlpExporter>> Start(Options options);
  ~OtlpExporter() override;

  void Take(const Spans& spans) override;

  // Waits until all that was taken before is sent or dropped; false: not within `limit`.
  bool Flush(std::chrono::nanoseconds limit);

  // Spans, since the start.
  int64_t sent() const;
  int64_t dropped() const;

 private:
  class Work;
  explicit OtlpExporter(std::unique_ptr<Work> work);

  const std::unique_ptr<Work> work_;
  std::thread thread_;
};

// Where traces go by an option, which is a collector's base URL as in OTEL_EXPORTER_OTLP_ENDPOINT:
// "http://localhost:4318". Where it is empty, by that variable of the environment, or by
// OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, which is the whole URL and goes before; of either what is no
// URL of HTTP counts as nothing. Empty: nowhere.
std::string OtlpUrl(const std::string& endpoint);

}  // namespace vicinity
