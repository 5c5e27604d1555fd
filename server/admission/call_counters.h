// Counts what a server does, method by method.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "proto/telemetry/metric.h"
#include "proto/telemetry/registry.h"

namespace vicinity {

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
  // `methods`: their names, "FetchRows"; below a method is its place among them.
  explicit CallCounters(std::vector<std::string> methods);

  // One call, from its construction until Finish().
  class Running {
   public:
    Running(CallCounters* counters, size_t method);
    ~Running();  // a call that was not finished counts as failed
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

    void AddReceived(int64_t bytes);
    void AddSent(int64_t bytes);
    void AddCopied(int64_t bytes);
    void Finish(bool ok) { ok_ = ok; }

   private:
    CallCounters* const counters_;
    const size_t method_;
    const std::chrono::steady_clock::time_point begun_;
    bool ok_ = false;
  };

  const std::vector<std::string>& methods() const { return methods_; }
  MethodCounts counts(size_t method) const;
  // By method, as vicinity_server_calls_total and its like. They must outlive the group.
  void AddMetrics(MetricRegistry::Group* group) const;
  int64_t in_flight() const { return in_flight_.value(); }

 private:
  // A cache line each, since every call writes here.
  struct alignas(64) Cell {
    Counter started;
    Counter failed;
    Counter bytes_sent;
    Counter bytes_received;
    Counter bytes_copied;
    LatencyHistogram time;  // of calls that have ended
  };

  const std::vector<std::string> methods_;
  const std::unique_ptr<Cell[]> cells_;
  Gauge in_flight_;
};

}  // namespace vicinity
