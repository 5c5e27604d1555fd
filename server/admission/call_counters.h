// Counts what a server does, method by method.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/telemetry/latency_histogram.h"
#include "proto/telemetry/metric.h"
#include "proto/telemetry/registry.h"

namespace vicinity {

struct CountedMethod {
  std::string method;        // "FetchRows"; empty: it is not counted
  std::string service = {};  // "vicinity.proto.Graph"
  bool has_stream = false;   // its reply may come in several messages
};

struct MethodCounts {
  int64_t started = 0;
  int64_t failed = 0;          // ended with anything but OK
  int64_t bytes_sent = 0;      // payload: what replies carry in bytes fields
  int64_t bytes_received = 0;  // payload: what requests carry in bytes fields
  int64_t bytes_copied = 0;    // payload copied between files and network, each time
  double busy_seconds = 0;     // of calls that have ended
};

// Threads: all methods from any number at once; counts only rise, and are read one by one.
class CallCounters {
 public:
  // Below a method is its place among `methods`.
  explicit CallCounters(std::vector<CountedMethod> methods);

  // One call, from its construction until Finish().
  class Running {
   public:
    Running(CallCounters* counters, size_t method);
    ~Running();  // a call that was not finished counts as one of kUnknown
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

    void AddReceived(int64_t bytes);
    void AddSent(int64_t bytes);
    void AddCopied(int64_t bytes);
    void Finish(absl::StatusCode code) { code_ = code; }

   private:
    CallCounters* const counters_;
    const size_t method_;
    const std::chrono::steady_clock::time_point begun_;
    absl::StatusCode code_ = absl::StatusCode::kUnknown;
  };

  const std::vector<CountedMethod>& methods() const { return methods_; }
  MethodCounts counts(size_t method) const;
  // By method: grpc_server_started_total, grpc_server_handled_total by code, and
  // grpc_server_handling_seconds, which dashboards and alerts for gRPC know; bytes under names of
  // our own. They must outlive the group.
  void AddMetrics(MetricRegistry::Group* group) const;
  int64_t in_flight() const { return in_flight_.value(); }

 private:
  static constexpr size_t kNumCodes = 17;  // gRPC's, which Abseil's are

  // Cache lines of its own, since every call writes here.
  struct alignas(64) Cell {
    Counter started;
    std::array<Counter, kNumCodes> ended;  // by code
    Counter bytes_sent;
    Counter bytes_received;
    Counter bytes_copied;
    LatencyHistogram time;  // of calls that have ended
  };

  const std::vector<CountedMethod> methods_;
  const std::unique_ptr<Cell[]> cells_;
  Gauge in_flight_;
};

}  // namespace vicinity
