// Metrics as a scrape, a textfile or a server's Status show them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace vicinity {

struct MetricSample {
  std::string name;
  std::map<std::string, std::string> labels;
  double value = 0;

  // Empty if there is none of this name.
  const std::string& Label(const std::string& label) const;
};
using MetricSamples = std::vector<MetricSample>;

// Of Prometheus' text format 0.0.4. InvalidArgument quoting the first line that is none.
absl::StatusOr<MetricSamples> ParseMetrics(absl::string_view text);

// The sum of all samples of a name that have these labels.
double SumOf(const MetricSamples& samples, absl::string_view name,
             const std::map<std::string, std::string>& labels = {});

}  // namespace vicinity
