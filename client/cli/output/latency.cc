#include "client/cli/output/latency.h"

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/numbers.h"
#include "proto/common/human_text.h"

namespace vicinity::cli {
namespace {

constexpr char kBuckets[] = "grpc_server_handling_seconds_bucket";

const std::set<std::string>& DataMethods() {
  static const auto* const methods = new std::set<std::string>{
      "SampleNeighbors", "FetchRows",    "FetchRagged", "FindRows",     "ResolveKeys",
      "FetchDegrees",    "FetchEdgeIds", "Walk",        "FetchRanking", "Apply"};
  return *methods;
}

std::string LabelOf(const proto::MetricStatus& metric, const char* name) {
  for (const proto::MetricLabel& label : metric.labels()) {
    if (label.name() == name) return label.value();
  }
  return "";
}

using Counts = std::map<double, double>;  // upper bound -> calls up to it

Counts CountsOf(const proto::StatusReply& status, const std::string& method) {
  Counts counts;
  for (const proto::MetricStatus& metric : status.metrics()) {
    if (metric.name() != kBuckets) continue;
    const std::string of = LabelOf(metric, "grpc_method");
    if (method.empty() ? DataMethods().count(of) == 0 : of != method) continue;
    double bound = 0;
    if (!absl::SimpleAtod(LabelOf(metric, "le"), &bound)) continue;  // takes "+Inf", too
    counts[bound] += metric.value();
  }
  return counts;
}

double Quantile(const Counts& counts, double share) {
  const double rank = share * counts.rbegin()->second;
  double below_bound = 0;
  double below = 0;
  for (const auto& [bound, calls] : counts) {
    if (calls >= rank && calls > below) {
      if (bound == std::numeric_limits<double>::infinity()) return below_bound;
      return below_bound + (bound - below_bound) * (rank - below) / (calls - below);
    }
    below_bound = bound;
    below = calls;
  }
  return below_bound;
}

Latency Of(const Counts& counts) {
  Latency latency;
  if (counts.empty() || counts.rbegin()->second < 1) return latency;
  latency.calls = static_cast<uint64_t>(counts.rbegin()->second);
  latency.p50 = Quantile(counts, 0.5);
  latency.p90 = Quantile(counts, 0.9);
  latency.p99 = Quantile(counts, 0.99);
  return latency;
}

}  // namespace

Latency LatencyBetween(const proto::StatusReply& before, const proto::StatusReply& after,
                       const std::string& method) {
  Counts counts = CountsOf(after, method);
  if (after.uptime_seconds() >= before.uptime_seconds()) {
    for (const auto& [bound, calls] : CountsOf(before, method)) {
      const auto found = counts.find(bound);
      if (found != counts.end()) found->second = std::max(0.0, found->second - calls);
    }
  }
  return Of(counts);
}

Latency LatencyOf(const proto::StatusReply& status, const std::string& method) {
  return Of(CountsOf(status, method));
}

std::string LatencyText(const Latency& latency, double seconds) {
  return latency.calls == 0 ? "-" : HumanSeconds(seconds);
}

nlohmann::ordered_json LatencyJson(const Latency& latency) {
  nlohmann::ordered_json json = {{"calls", latency.calls}};
  for (const auto& [name, seconds] :
       {std::pair{"p50", latency.p50}, {"p90", latency.p90}, {"p99", latency.p99}}) {
    json[name] = nullptr;
    if (latency.calls > 0) json[name] = seconds;
  }
  return json;
}

}  // namespace vicinity::cli
