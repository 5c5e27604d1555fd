#include "proto/telemetry/registry.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <iterator>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"

namespace vicinity {

MetricRegistry::Group::~Group() {
  if (num_metrics_ == 0) return;
  MutexLock lock(&registry_->mu_);
  registry_->metrics_.remove_if([this](const Metric& metric) { return metric.group == this; });
}

void MetricRegistry::Group::Add(MetricName metric, MetricLabels labels,
                                std::function<double()> read) {
  ++num_metrics_;
  MutexLock lock(&registry_->mu_);
  registry_->metrics_.push_back({this, std::move(metric), std::move(labels), std::move(read)});
}

void MetricRegistry::Group::Add(MetricName metric, MetricLabels labels, const Counter* counter,
                                double unit) {
  Add(std::move(metric), std::move(labels),
      [counter, unit] { return static_cast<double>(counter->value()) * unit; });
}

void MetricRegistry::Group::Add(const MetricName& metric, const MetricLabels& labels,
                                const LatencyHistogram* histogram) {
  constexpr size_t kNumBounds = std::size(LatencyHistogram::kBounds);
  for (size_t b = 0; b <= kNumBounds; ++b) {
    MetricLabels of_bucket = labels;
    of_bucket.emplace_back("le",
                           b < kNumBounds ? absl::StrCat(LatencyHistogram::kBounds[b]) : "+Inf");
    Add({metric.name + "_bucket", metric.help}, std::move(of_bucket),
        [histogram, b] { return static_cast<double>(histogram->count_within(b)); });
  }
  Add({metric.name + "_sum", metric.help}, labels, [histogram] { return histogram->seconds(); });
  Add({metric.name + "_count", metric.help}, labels,
      [histogram] { return static_cast<double>(histogram->count()); });
}

std::vector<MetricRegistry::Reading> MetricRegistry::Read() const {
  std::vector<Reading> readings;
  {
    MutexLock lock(&mu_);
    readings.reserve(metrics_.size());
    for (const Metric& metric : metrics_) {
      readings.push_back({metric.metric, metric.labels, metric.read()});
    }
  }
  std::sort(readings.begin(), readings.end(), [](const Reading& a, const Reading& b) {
    return std::tie(a.metric.name, a.labels) < std::tie(b.metric.name, b.labels);
  });
  return readings;
}

}  // namespace vicinity
