#include "proto/telemetry/registry.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <iterator>
#include <map>
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
  registry_->metrics_.push_back(
      {this, std::move(metric), std::move(labels), std::move(read), nullptr});
}

void MetricRegistry::Group::Add(MetricName metric, MetricLabels labels, const Counter* counter,
                                double unit) {
  Add(std::move(metric), std::move(labels),
      [counter, unit] { return static_cast<double>(counter->value()) * unit; });
}

void MetricRegistry::Group::Add(MetricName metric, MetricLabels labels,
                                const LatencyHistogram* histogram) {
  metric.kind = MetricKind::kHistogram;
  ++num_metrics_;
  MutexLock lock(&registry_->mu_);
  registry_->metrics_.push_back({this, std::move(metric), std::move(labels), nullptr, histogram});
}

void MetricRegistry::ReadHistogram(const Metric& metric, std::vector<Reading>* readings) {
  constexpr size_t kNumBounds = std::size(LatencyHistogram::kBounds);
  const std::string& help = metric.metric.help;
  const std::vector<int64_t> counts = metric.histogram->counts_within();
  for (size_t b = 0; b < counts.size(); ++b) {
    MetricLabels labels = metric.labels;
    labels.emplace_back("le", b < kNumBounds ? absl::StrCat(LatencyHistogram::kBounds[b]) : "+Inf");
    readings->push_back({{metric.metric.name + "_bucket", help},
                         std::move(labels),
                         static_cast<double>(counts[b])});
  }
  readings->push_back(
      {{metric.metric.name + "_sum", help}, metric.labels, metric.histogram->seconds()});
  readings->push_back(
      {{metric.metric.name + "_count", help}, metric.labels, static_cast<double>(counts.back())});
}

std::vector<MetricRegistry::Reading> MetricRegistry::Read() const {
  std::vector<Reading> readings;
  {
    MutexLock lock(&mu_);
    readings.reserve(metrics_.size());
    for (const Metric& metric : metrics_) {
      if (metric.histogram != nullptr) {
        ReadHistogram(metric, &readings);
      } else {
        readings.push_back({metric.metric, metric.labels, metric.read()});
      }
    }
  }
  std::sort(readings.begin(), readings.end(), [](const Reading& a, const Reading& b) {
    return std::tie(a.metric.name, a.labels) < std::tie(b.metric.name, b.labels);
  });
  return readings;
}

std::vector<MetricRegistry::Family> MetricRegistry::Collect() const {
  std::map<std::string_view, Family> by_name;  // names are the metrics' own
  std::vector<Family> families;
  MutexLock lock(&mu_);
  for (const Metric& metric : metrics_) {
    Family& family = by_name[metric.metric.name];
    if (family.series.empty()) family.metric = metric.metric;
    Family::Series series;
    series.labels = metric.labels;
    if (metric.histogram != nullptr) {
      series.value = metric.histogram->seconds();
      series.counts_within = metric.histogram->counts_within();
    } else {
      series.value = metric.read();
    }
    family.series.push_back(std::move(series));
  }
  families.reserve(by_name.size());
  for (auto& [name, family] : by_name) {
    std::sort(family.series.begin(), family.series.end(),
              [](const Family::Series& a, const Family::Series& b) { return a.labels < b.labels; });
    families.push_back(std::move(family));
  }
  return families;
}

}  // namespace vicinity
