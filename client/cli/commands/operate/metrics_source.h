// Where `vicinity why` has a trainer's numbers from: its port, or a file.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/why/metric_samples.h"

namespace vicinity::cli {

// Whether `source` is an address, "http://host:port" or with a path, rather than a file's name.
bool IsAddress(const std::string& source);

// What it shows now; of an address without a path /metrics. At most 64 MiB, within `timeout`.
// Unavailable or NotFound naming the source, InvalidArgument if it is no text of Prometheus.
absl::StatusOr<MetricSamples> ReadMetrics(const std::string& source, absl::Duration timeout);

}  // namespace vicinity::cli
