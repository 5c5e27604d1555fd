// All that a process or a graph counts, by name, for whoever shows it: statistics, a server's
// Status, pages, exporters.
//
// Numbers belong to the parts that count. Each part has a group here, in which it says what its
// numbers are called and how they are read; when the group goes, they are gone. Counting itself
// costs an addition to an atomic, and knows nothing of all this.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proto/common/mutex.h"
#include "proto/telemetry/latency_histogram.h"
#include "proto/telemetry/metric.h"

namespace vicinity {

// Threads:  any number.
// Lifetime: outlives its groups.
class MetricRegistry {
 public:
  struct Reading {
    MetricName metric;
    MetricLabels labels;
    double value = 0;
  };

  // One metric by its name, with every combination of its labels' values.
  struct Family {
    struct Series {
      MetricLabels labels;
      double value = 0;                    // of a histogram: all its times, in seconds
      std::vector<int64_t> counts_within;  // of a histogram: LatencyHistogram::counts_within
    };
    MetricName metric;
    std::vector<Series> series;  // sorted by labels
  };

  // The metrics of one part. Threads: one at a time.
  class Group {
   public:
    explicit Group(MetricRegistry* registry) : registry_(registry) {}
    ~Group();
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;

    // `read` may be called from any thread until the group is gone. Two metrics of one name differ
    // in a label's value.
    void Add(MetricName metric, MetricLabels labels, std::function<double()> read);
    // `counter` must outlive the group; what is shown is `unit` times its value.
    void Add(MetricName metric, MetricLabels labels, const Counter* counter, double unit = 1);
    // A histogram, whose kind `metric` need not say; it must outlive the group. Read() shows it as
    // Prometheus' counters: metric_bucket{le="0.001"}, each with all below it, metric_sum in
    // seconds and metric_count.
    void Add(MetricName metric, MetricLabels labels, const LatencyHistogram* histogram);

   private:
    MetricRegistry* const registry_;
    int64_t num_metrics_ = 0;
  };

  MetricRegistry() = default;
  MetricRegistry(const MetricRegistry&) = delete;
  MetricRegistry& operator=(const MetricRegistry&) = delete;

  // What all metrics are now: sorted by name, then by labels. Numbers are read one by one.
  std::vector<Reading> Read() const;
  // The same by name, sorted by it, with histograms whole. What one name was given first as its
  // help and its kind stands for all its series.
  std::vector<Family> Collect() const;

 private:
  struct Metric {
    const Group* group;
    MetricName metric;
    MetricLabels labels;
    std::function<double()> read;                 // null: a histogram
    const LatencyHistogram* histogram = nullptr;  // null: a number
  };

  static void ReadHistogram(const Metric& metric, std::vector<Reading>* readings);

  mutable Mutex mu_;
  std::list<Metric> metrics_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vicinity
