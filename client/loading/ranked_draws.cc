#include "client/loading/ranked_draws.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace vicinity {
namespace {

std::string Quoted(const std::string& text) { return absl::StrCat("\"", text, "\""); }

std::string YesOrNo(bool value) { return value ? "yes" : "no"; }

// The rules by name, each with what it is.
std::vector<std::pair<std::string, std::string>> RulesOf(const SamplingSpec& spec) {
  return {
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
  for (size_t i = 0; i < there.size(); ++i) {
    if (there[i] == here[i]) continue;
    absl::StrAppend(&apart, apart.empty() ? "" : "; ", there[i].first, " ", there[i].second,
                    ", here ", here[i].second);
  }
  return apart;
}

}  // namespace vicinity
