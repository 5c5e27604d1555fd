#include "client/planning/policy_report.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "cache/policies/access_trace.h"
#include "cache/policies/all_policies.h"
#include "cache/policies/policy.h"
#include "cache/policies/static_order.h"
#include "cache/policies/trainer_view.h"
#include "cache/vip/vip.h"
#include "client/planning/calibrated_scores.h"
#include "client/planning/sampled_trace.h"
#include "partition/dataset/whole_read.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

std::vector<PolicyReport::Size> CacheSizes(const Dataset& dataset,
                                           const std::vector<double>& replication) {
  int64_t num_nodes = 0;
  for (int32_t t = 0; t < dataset.book().num_node_types(); ++t) {
    num_nodes += dataset.book().num_nodes(NodeTypeId{t});
  }
  const double mean_shard = static_cast<double>(num_nodes) / dataset.book().num_shards();
  std::vector<PolicyReport::Size> sizes;
  for (const double share : replication) {
    sizes.push_back({share, std::llround(share * mean_shard)});
  }
  return sizes;
}

// What `vicinity rank` would store for the home; null: no scores are given.
std::unique_ptr<StaticOrder> RankingOf(const std::optional<CalibratedScores>& calibrated,
                                       const TrainerView& view, size_t home) {
  if (!calibrated.has_value()) return nullptr;
  const VipScores& scores = calibrated->scores;
  std::vector<double> flat;
  flat.reserve(view.num_nodes());
  for (const std::vector<float>& of_type : scores.values) {
    for (size_t i = home; i < of_type.size(); i += scores.num_homes) flat.push_back(of_type[i]);
  }
  view.KeepRemote(&flat);
  return std::make_unique<StaticOrder>("query-ranking", OrderByScore(flat));
}

// Adds what one trainer's policies come to.
absl::Status AddTrainer(absl::Span<const std::unique_ptr<Policy>> policies,
                        const AccessTrace& trace, PolicyReport* report) {
  report->lines.resize(policies.size());
  for (size_t s = 0; s < report->sizes.size(); ++s) {
    const PolicyBudget budget = {report->sizes[s].total_rows, report->depth};
    for (size_t i = 0; i < policies.size(); ++i) {
      VICINITY_ASSIGN_OR_RETURN(const PolicyCount count, policies[i]->Count(trace, budget));
      PolicyReport::Line& line = report->lines[i];
      line.policy = policies[i]->name();
      line.cells.resize(report->sizes.size());
      PolicyReport::Cell& cell = line.cells[s];
      cell.fetched += static_cast<double>(count.fetched);
      cell.held += count.held;
      cell.most_held += static_cast<double>(count.most_held);
    }
  }
  ++report->num_trainers;
  report->used += static_cast<double>(trace.num_uses());
  report->batches += static_cast<double>(trace.num_batches());
  return absl::OkStatus();
}

// From sums over epochs and trainers to what is shown.
void Average(PolicyReport* report) {
  const auto num_epochs = static_cast<double>(report->num_epochs);
  report->used /= num_epochs;
  report->batches /= num_epochs;
  for (PolicyReport::Line& line : report->lines) {
    for (PolicyReport::Cell& cell : line.cells) {
      cell.fetched /= num_epochs;
      cell.held /= report->num_trainers;
      cell.most_held /= report->num_trainers;
    }
  }
}

}  // namespace

absl::Status PolicyReportOptions::Validate() const {
  if (replication.empty()) return absl::InvalidArgumentError("no replication is given");
  for (const double share : replication) {
    if (!(share >= 0 && share <= 1e6)) {
      return absl::InvalidArgumentError(absl::StrCat("replication ", share));
    }
  }
  if (num_epochs < 1) return absl::InvalidArgumentError(absl::StrCat("epochs ", num_epochs));
  if (num_simulated_epochs < 1) {
    return absl::InvalidArgumentError(absl::StrCat("simulated epochs ", num_simulated_epochs));
  }
  if (depth < 1) return absl::InvalidArgumentError(absl::StrCat("depth ", depth));
  for (const int64_t window : windows) {
    if (window < 0) return absl::InvalidArgumentError(absl::StrCat("window ", window));
  }
  return absl::OkStatus();
}

absl::StatusOr<PolicyReport> CountPolicies(const Dataset& dataset, const HomePlan& plan,
                                           const PolicyReportOptions& options, Progress* progress) {
  VICINITY_RETURN_IF_ERROR(options.Validate());
  PolicyReport report;
  report.num_epochs = options.num_epochs;
  report.depth = options.depth;
  report.sizes = CacheSizes(dataset, options.replication);
  TraceOptions counted;
  counted.run_seed = options.run_seed;
  counted.num_epochs = options.num_epochs;
  counted.node_times = plan.node_times;
  counted.query = plan.query.get();
  TraceOptions simulated = counted;
  simulated.first_epoch = options.num_epochs;
  simulated.num_epochs = options.num_simulated_epochs;
  std::optional<CalibratedScores> counted_scores;
  if (plan.query != nullptr) {
    VICINITY_ASSIGN_OR_RETURN(counted_scores, CalibratedScoresOf(dataset, plan, {}, progress));
  }
  VICINITY_RETURN_IF_ERROR(ReadWhole(ListFiles(dataset), progress, [&]() -> absl::Status {
    for (size_t home = 0; home < plan.homes.size(); ++home) {
      if (plan.seeds[home].nodes.empty()) continue;
      VICINITY_ASSIGN_OR_RETURN(
          const TrainerView view,
          TrainerView::Create(&dataset, plan.homes[home], plan.seeds[home], plan.options));
      VICINITY_ASSIGN_OR_RETURN(const AccessTrace before, SampleTrace(view, simulated, progress));
      VICINITY_ASSIGN_OR_RETURN(const AccessTrace trace, SampleTrace(view, counted, progress));
      VICINITY_ASSIGN_OR_RETURN(const std::vector<std::unique_ptr<Policy>> policies,
                                MakeAllPolicies(view, before, trace, options.windows,
                                                RankingOf(counted_scores, view, home)));
      VICINITY_RETURN_IF_ERROR(AddTrainer(policies, trace, &report));
    }
    return absl::OkStatus();
  }));
  Average(&report);
  return report;
}

}  // namespace vicinity
