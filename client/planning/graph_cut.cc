#include "client/planning/graph_cut.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "cache/vip/rank_order.h"
#include "cache/vip/vip.h"
#include "client/planning/calibrated_scores.h"
#include "client/planning/expected_remote.h"
#include "client/planning/home_plan.h"
#include "partition/cut/cut_report.h"
#include "partition/cut/node_facts.h"
#include "partition/cut/partitioner.h"
#include "partition/dataset/manifest.h"
#include "partition/dataset/ranking.h"
#include "partition/dataset/whole_read.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// A VIP analysis of a cut: what it was asked and what came out, by the source's ids.
struct Vip {
  HomePlan plan;
  VipScores scores;
  int64_t sampled_batches = 0;
};

NodeOrder OrderByVip(const Assignment& assignment, const Vip& vip) {
  std::vector<std::vector<int32_t>> home_of = assignment.shard_of;
  for (std::vector<int32_t>& of_type : home_of) {
    for (int32_t& entry : of_type) entry = vip.plan.home_of[entry];
  }
  return OrderNodes(assignment, OwnScores(vip.scores, home_of));
}

// The same scores by the ids that the nodes have in the cut.
VipScores Renumber(VipScores scores, const NodeOrder& order) {
  for (size_t t = 0; t < scores.values.size(); ++t) {
    const std::vector<float> old = std::move(scores.values[t]);
    std::vector<float>& renumbered = scores.values[t];
    renumbered.clear();
    renumbered.reserve(old.size());
    for (const int64_t node : order.order[t]) {
      const auto row = old.begin() + node * scores.num_homes;
      renumbered.insert(renumbered.end(), row, row + scores.num_homes);
    }
  }
  return scores;
}

// What is known of a cut before it is written.
struct Cut {
  Assignment assignment;
  PartitionReport report;
  std::optional<Vip> vip;
  NodeOrder order;
};

absl::Status MakeCut(const Dataset& source, const CutRequest& request, Assigner* assigner,
                     bool with_vip, Progress* progress, Cut* cut) {
  VICINITY_ASSIGN_OR_RETURN(cut->assignment,
                            assigner->Assign(source, request.num_shards, progress));
  PartitionReport& report = cut->report;
  report.dataset = source.manifest().name();
  report.assigner = assigner->name();
  report.num_shards = request.num_shards;
  report.num_nodes = NumNodes(source);
  report.cut = ReportCut(source, cut->assignment);
  if (!with_vip) {
    progress->Note(
        "no train nodes: nodes keep their order and no ranking is stored (`vicinity rank --seeds "
        "all` makes one)");
    cut->order = OrderNodes(cut->assignment, {});
    return absl::OkStatus();
  }
  Vip& vip = cut->vip.emplace();
  VICINITY_ASSIGN_OR_RETURN(vip.plan, PlanHomes(source, cut->assignment, request.vip));
  VICINITY_ASSIGN_OR_RETURN(CalibratedScores calibrated,
                            CalibratedScoresOf(source, vip.plan, request.calibration, progress));
  vip.scores = std::move(calibrated.scores);
  vip.sampled_batches = calibrated.num_batches;
  report.expected = ExpectRemote(vip.scores, vip.plan, cut->assignment);
  cut->order = OrderByVip(cut->assignment, vip);
  return absl::OkStatus();
}

absl::StatusOr<PartitionReport> WriteCut(const Dataset& source, const CutRequest& request, Cut cut,
                                         Progress* progress) {
  VICINITY_RETURN_IF_ERROR(WritePartition(
      source, cut.assignment, cut.order, request.output,
      absl::StrCat(source.manifest().provenance(), "\n", request.provenance), progress));
  PartitionReport& report = cut.report;
  if (cut.vip.has_value()) {
    report.ranking = DescribeRanking(kDefaultRanking, request.vip, cut.vip->plan);
    report.ranking.set_sampled_batches(cut.vip->sampled_batches);
    VICINITY_RETURN_IF_ERROR(
        At(absl::StrCat(request.output, " is written, but not its ranking, which `vicinity rank ",
                        request.output, "` makes"),
           WriteRanking(request.output, report.ranking,
                        RankOrders(Renumber(std::move(cut.vip->scores), cut.order)))));
  }
  VICINITY_ASSIGN_OR_RETURN(const proto::Manifest manifest, ReadManifest(request.output));
  report.fingerprint = manifest.fingerprint();
  return report;
}

}  // namespace

absl::StatusOr<std::optional<HomePlan>> PlanForCut(const Dataset& source,
                                                   const CutRequest& request) {
  VICINITY_RETURN_IF_ERROR(CheckAssignable(source, request.num_shards));
  absl::StatusOr<HomePlan> plan =
      PlanHomes(source, MakeAssignment(source, request.num_shards), request.vip);
  if (absl::IsFailedPrecondition(plan.status()) && request.vip.seeds == VipRequest().seeds) {
    return std::nullopt;
  }
  VICINITY_RETURN_IF_ERROR(plan.status());
  for (size_t shard = 0; shard < plan->home_of.size(); ++shard) {
    if (plan->home_of[shard] >= 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("homes: shard ", shard, " is in none; its nodes could not be put in order"));
  }
  return *std::move(plan);
}

absl::StatusOr<PartitionReport> CutGraph(const Dataset& source, const CutRequest& request,
                                         bool with_vip, Assigner* assigner, Progress* progress) {
  Cut cut;
  // All files, also those that only the writing reads: what is damaged is told before the hours
  // that an assignment may take.
  VICINITY_RETURN_IF_ERROR(ReadWhole(AllFiles(source), progress, [&] {
    return MakeCut(source, request, assigner, with_vip, progress, &cut);
  }));
  return WriteCut(source, request, std::move(cut), progress);
}

}  // namespace vicinity
