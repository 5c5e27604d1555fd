#include "client/loading/ranked_draws.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace vicinity {
namespace {

std::string Quoted(const std::string& text) { return absl::StrCat("\"", text, "\""); }

std::string YesOrNo(bool value) { return value ? "yes" : "no"; }

// "[15,10]"; of a hop that tells edge types apart "[15,[10,0]]".
std::string FanoutsText(const std::vector<std::vector<int64_t>>& fanouts) {
  std::vector<std::string> hops;
  for (const std::vector<int64_t>& hop : fanouts) {
    const bool alike = !hop.empty() && std::count(hop.begin(), hop.end(), hop[0]) ==
                                           static_cast<int64_t>(hop.size());
    hops.push_back(alike ? absl::StrCat(hop[0]) : absl::StrCat("[", absl::StrJoin(hop, ","), "]"));
  }
  return absl::StrCat("[", absl::StrJoin(hops, ","), "]");
}

// The rules by name, each with what it is.
std::vector<std::pair<std::string, std::string>> RulesOf(const SamplingSpec& spec) {
  return {
      {"fanouts", FanoutsText(spec.fanouts)},
      {"replace", YesOrNo(spec.replace)},
      {"expansion", spec.expansion == Expansion::kNewNodes ? "new" : "all"},
      {"weighted_by", Quoted(spec.weighted_by)},
      {"where", Quoted(spec.where)},
      {"disjoint", YesOrNo(spec.disjoint)},
      {"time_column", Quoted(spec.time_column)},
      {"temporal_strategy", spec.temporal_strategy == TemporalStrategy::kLast ? "last" : "uniform"},
      {"time_window", absl::StrCat(spec.time_window)},
      {"time_follows", spec.time_follows == TimeFollows::kPath ? "path" : "seed"},
      {"draws", spec.draws == Draws::kLabor ? "labor" : "independent"},
      {"layer_dependency", YesOrNo(spec.layer_dependency)},
      {"batch_dependency", absl::StrCat(spec.batch_dependency)},
  };
}

}  // namespace

std::string DrawsApart(const SamplingSpec& ranked, const SamplingSpec& drawn) {
  const auto there = RulesOf(ranked), here = RulesOf(drawn);
  std::string apart;
  const bool both_have_hops = !ranked.fanouts.empty() && !drawn.fanouts.empty();
  for (size_t i = both_have_hops ? 0 : 1; i < there.size(); ++i) {  // fanouts come first
    if (there[i] == here[i]) continue;
    absl::StrAppend(&apart, apart.empty() ? "" : "; ", there[i].first, " ", there[i].second,
                    ", here ", here[i].second);
  }
  return apart;
}

}  // namespace vicinity
