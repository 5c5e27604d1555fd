// What a server keeps of the calls that it answers: the spans of those whose callers have sampled
// their trace, and a line of the log for each that took long.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "proto/admin.pb.h"
#include "proto/telemetry/metric.h"
#include "proto/telemetry/registry.h"
#include "proto/telemetry/trace/otlp_exporter.h"
#include "proto/telemetry/trace/otlp_json.h"
#include "proto/telemetry/trace/trace_ring.h"
#include "proto/telemetry/trace/tracer.h"

namespace vicinity {

struct TracingOptions {
  int64_t max_calls_per_second = 1000;  // recorded, of sampled traces; 0: none
  int64_t ring_bytes = int64_t{8} << 20;
  // Calls that take longer are in the log; 0: none.
  std::chrono::milliseconds slow_call{10'000};
  // As OtlpUrl has it; empty: what the environment says, or nowhere.
  std::string otlp_endpoint;
};

// Threads: any number. Memory: twice the ring's, and the exporter's.
class ServerTracing {
 public:
  // Errors as OtlpExporter::Start.
  static absl::StatusOr<std::unique_ptr<ServerTracing>> Start(const TracingOptions& options,
                                                              const std::string& server);

  Tracer* tracer() { return tracer_.get(); }

  // Whether a call of such a length gets a line: ten a second do at most. `left_out` gets how many
  // got none since the last one that did.
  bool IsSlow(std::chrono::nanoseconds length, int64_t* left_out);
  bool LooksForSlow() const { return options_.slow_call.count() > 0; }

  // The RPC of proto/admin.proto; as many of the slowest as 3 MiB hold.
  absl::StatusOr<proto::TracesReply> Show(const proto::TracesRequest& request) const;

  // It must outlive the group.
  void AddMetrics(MetricRegistry::Group* group) const;

 private:
  ServerTracing(const TracingOptions& options, const std::string& server);

  const TracingOptions options_;
  const TraceResource resource_;
  TraceRing ring_;
  std::unique_ptr<OtlpExporter> exporter_;  // null: nowhere
  std::unique_ptr<Tracer> tracer_;
  Counter slow_calls_;
  std::atomic<int64_t> slow_second_{0};
  std::atomic<int64_t> slow_in_second_{0};
  std::atomic<int64_t> slow_left_out_{0};
};

}  // namespace vicinity
