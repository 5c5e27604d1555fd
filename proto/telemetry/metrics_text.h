// What a process counts, as Prometheus reads it.
#pragma once

#include <string>

#include "proto/telemetry/metric.h"
#include "proto/telemetry/registry.h"

namespace vicinity {

// The Content-Type of the text.
inline constexpr char kMetricsContentType[] = "text/plain; version=0.0.4; charset=utf-8";

// Every metric of the registry in Prometheus' text format, version 0.0.4: families by rising name,
// each with its help and its type. Every series has `more` labels before its own, whose names
// differ from those.
std::string MetricsText(const MetricRegistry& registry, const MetricLabels& more = {});

}  // namespace vicinity
