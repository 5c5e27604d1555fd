#include "proto/telemetry/metrics_text.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <sstream>
#include <utility>
#include <vector>

#include "proto/telemetry/latency_histogram.h"
#include "proto/telemetry/metric.h"

namespace vicinity {
namespace {

prometheus::MetricType TypeOf(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter:
      return prometheus::MetricType::Counter;
    case MetricKind::kGauge:
      return prometheus::MetricType::Gauge;
    case MetricKind::kHistogram:
      return prometheus::MetricType::Histogram;
  }
  return prometheus::MetricType::Untyped;
}

prometheus::ClientMetric::Histogram HistogramOf(const MetricRegistry::Family::Series& series) {
  constexpr size_t kNumBounds = std::size(LatencyHistogram::kBounds);
  prometheus::ClientMetric::Histogram histogram;
  histogram.sample_sum = series.value;
  histogram.sample_count = static_cast<uint64_t>(series.counts_within.back());
  histogram.bucket.reserve(series.counts_within.size());
  for (size_t b = 0; b < series.counts_within.size(); ++b) {
    const double bound =
        b < kNumBounds ? LatencyHistogram::kBounds[b] : std::numeric_limits<double>::infinity();
    histogram.bucket.push_back({static_cast<uint64_t>(series.counts_within[b]), bound});
  }
  return histogram;
}

prometheus::ClientMetric MetricOf(MetricKind kind, const MetricLabels& more,
                                  MetricRegistry::Family::Series series) {
  prometheus::ClientMetric metric;
  metric.label.reserve(more.size() + series.labels.size());
  for (const auto& [name, value] : more) metric.label.push_back({name, value});
  for (auto& [name, value] : series.labels) {
    metric.label.push_back({std::move(name), std::move(value)});
  }
  if (kind == MetricKind::kHistogram) {
    metric.histogram = HistogramOf(series);
  } else {
    // A family of one type has one of them written.
    metric.counter.value = series.value;
    metric.gauge.value = series.value;
  }
  return metric;
}

}  // namespace

std::string MetricsText(const MetricRegistry& registry, const MetricLabels& more) {
  std::vector<prometheus::MetricFamily> families;
  for (MetricRegistry::Family& read : registry.Collect()) {
    prometheus::MetricFamily& family = families.emplace_back();
    family.name = std::move(read.metric.name);
    family.help = std::move(read.metric.help);
    family.type = TypeOf(read.metric.kind);
    family.metric.reserve(read.series.size());
    for (MetricRegistry::Family::Series& series : read.series) {
      family.metric.push_back(MetricOf(read.metric.kind, more, std::move(series)));
    }
  }
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, families);
  return text.str();
}

}  // namespace vicinity
