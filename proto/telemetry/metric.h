// What a process counts: numbers that any thread may add to, and what is to be known of each.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace vicinity {

// Only rises. Threads: any number.
class Counter {
 public:
  void Add(int64_t count = 1) { value_.fetch_add(count, std::memory_order_relaxed); }
  int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_{0};
};

// Rises and falls. Threads: any number.
class Gauge {
 public:
  void Add(int64_t change) { value_.fetch_add(change, std::memory_order_relaxed); }
  int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_{0};
};

enum class MetricKind : uint8_t { kCounter, kGauge, kHistogram };

// Names and values, in the order in which they are shown. The values of one name are few.
using MetricLabels = std::vector<std::pair<std::string, std::string>>;

// By Prometheus' conventions: a snake-case name that ends with its unit, and `_total` for a
// counter.
struct MetricName {
  std::string name;  // "vicinity_client_rows_total"
  std::string help;  // a sentence without its full stop
  MetricKind kind = MetricKind::kCounter;
};

}  // namespace vicinity
