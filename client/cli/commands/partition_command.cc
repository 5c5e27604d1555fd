#include "client/cli/commands/partition_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "cache/vip/rank_order.h"
#include "cache/vip/vip.h"
#include "client/cli/output/output.h"
#include "client/cli/output/partition_report.h"
#include "client/planning/calibrated_scores.h"
#include "client/planning/expected_remote.h"
#include "client/planning/home_plan.h"
#include "client/planning/partition_estimate.h"
#include "client/planning/resources.h"
#include "partition/cut/assigner.h"
#include "partition/cut/cut_report.h"
#include "partition/cut/file_assigner.h"
#include "partition/cut/hash_assigner.h"
#include "partition/cut/metis_assigner.h"
#include "partition/cut/node_facts.h"
#include "partition/cut/partitioner.h"
#include "partition/cut/range_assigner.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/manifest.h"
#include "partition/dataset/ranking.h"
#include "partition/dataset/whole_read.h"
#include "proto/common/file.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

constexpr char kReportFile[] = "partition_report.json";

struct Flags {
  std::string input;
  std::string output;
  int32_t num_shards = 0;
  std::string assigner = "metis";
  std::vector<std::string> assignment;
  std::vector<double> tolerance = {1.05};
  std::string time_limit = "6h";
  int32_t seed = 1;
  std::string memory;
  std::string scratch;
  VipFlags vip;
  CalibrationOptions calibration;
  OutputFormat format = OutputFormat::kTable;
};

absl::StatusOr<std::unique_ptr<Assigner>> MakeMetis(const Flags& flags, const ToolContext& tool) {
  MetisOptions options;
  options.program = tool.program;
  options.scratch_directory = flags.scratch.empty() ? ParentOf(flags.output) : flags.scratch;
  options.seed = flags.seed;
  if (flags.tolerance.size() == 1) {
    options.tolerance.fill(flags.tolerance[0]);
  } else if (flags.tolerance.size() == options.tolerance.size()) {
    std::copy(flags.tolerance.begin(), flags.tolerance.end(), options.tolerance.begin());
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat(flags.tolerance.size(), " tolerances; give one, or ", options.tolerance.size(),
                     " for train, validation, other nodes, in-edges"));
  }
  if (!absl::ParseDuration(flags.time_limit, &options.time_limit)) {
    return absl::InvalidArgumentError(
        absl::StrCat("time limit '", flags.time_limit, "'; write it as 30s, 10m or 6h"));
  }
  VICINITY_RETURN_IF_ERROR(options.Validate());
  return std::make_unique<MetisAssigner>(std::move(options));
}

absl::StatusOr<std::unique_ptr<Assigner>> MakeAssigner(const Flags& flags,
                                                       const ToolContext& tool) {
  if (flags.assigner != "file" && !flags.assignment.empty()) {
    return absl::InvalidArgumentError("--assignment goes with --assigner file");
  }
  if (flags.assigner == "metis") return MakeMetis(flags, tool);
  if (flags.assigner == "hash") return std::make_unique<HashAssigner>();
  if (flags.assigner == "range") return std::make_unique<RangeAssigner>();
  if (flags.assignment.empty()) {
    return absl::InvalidArgumentError("--assigner file needs --assignment");
  }
  std::vector<AssignmentFile> files;
  for (const std::string& text : flags.assignment) {
    const std::vector<std::string> parts = absl::StrSplit(text, absl::MaxSplits('=', 1));
    files.push_back(parts.size() == 1 ? AssignmentFile{"", parts[0]}
                                      : AssignmentFile{parts[0], parts[1]});
  }
  return std::make_unique<FileAssigner>(std::move(files));
}

// What the VIP flags come to, told before hours of work, by a cut that does not say which seeds are
// whose; none where there are no seeds to take, so nothing to analyse.
absl::StatusOr<std::optional<HomePlan>> CheckVip(const Dataset& source, const Flags& flags) {
  absl::StatusOr<HomePlan> plan =
      PlanHomes(source, MakeAssignment(source, flags.num_shards), flags.vip);
  if (absl::IsFailedPrecondition(plan.status()) && flags.vip.seeds == VipFlags().seeds) {
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

absl::Status CheckRoom(const Dataset& source, const Flags& flags, const Assigner& assigner,
                       const std::optional<HomePlan>& plan, const ToolContext& tool) {
  VICINITY_ASSIGN_OR_RETURN(Available available, LookAround(ParentOf(flags.output)));
  if (!flags.memory.empty()) {
    available.memory_bytes = ParseBytes(flags.memory);
    if (available.memory_bytes < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("memory '", flags.memory, "'; write it as 512M or 16G"));
    }
  }
  const WorkEstimate need =
      EstimatePartition(source, assigner.Estimate(source, flags.num_shards),
                        plan.has_value() ? &*plan : nullptr, flags.calibration);
  return CheckFits(need, available, *tool.narration);
}

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

std::string Provenance(const Dataset& source, const Flags& flags) {
  std::string text =
      absl::StrCat(source.manifest().provenance(), "\nvicinity partition --shards ",
                   flags.num_shards, " --assigner ", flags.assigner, " --fanouts ",
                   absl::StrJoin(flags.vip.fanouts, ","), " --batch-size ", flags.vip.batch_size);
  if (!flags.vip.homes.empty()) absl::StrAppend(&text, " --homes ", flags.vip.homes);
  return text;
}

absl::Status PrintAndKeep(const PartitionReport& report, const Flags& flags, std::ostream& out) {
  std::ostringstream json;
  PrintJson(PartitionReportJson(report), json);
  VICINITY_RETURN_IF_ERROR(
      WriteFileAtomically(absl::StrCat(flags.output, "/", kReportFile), json.str()));
  if (flags.format == OutputFormat::kJson) {
    out << json.str();
  } else {
    PrintPartitionReport(report, out);
  }
  return absl::OkStatus();
}

// What is known of a cut before it is written.
struct Cut {
  Assignment assignment;
  PartitionReport report;
  std::optional<Vip> vip;
  NodeOrder order;
};

absl::Status MakeCut(const Dataset& source, const Flags& flags, Assigner* assigner, bool with_vip,
                     Progress* progress, Cut* cut) {
  VICINITY_ASSIGN_OR_RETURN(cut->assignment, assigner->Assign(source, flags.num_shards, progress));
  PartitionReport& report = cut->report;
  report.dataset = source.manifest().name();
  report.assigner = assigner->name();
  report.num_shards = flags.num_shards;
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
  VICINITY_ASSIGN_OR_RETURN(vip.plan, PlanHomes(source, cut->assignment, flags.vip));
  VICINITY_ASSIGN_OR_RETURN(CalibratedScores calibrated,
                            CalibratedScoresOf(source, vip.plan, flags.calibration, progress));
  vip.scores = std::move(calibrated.scores);
  vip.sampled_batches = calibrated.num_batches;
  report.expected = ExpectRemote(vip.scores, vip.plan, cut->assignment);
  cut->order = OrderByVip(cut->assignment, vip);
  return absl::OkStatus();
}

absl::StatusOr<PartitionReport> WriteCut(const Dataset& source, const Flags& flags, Cut cut,
                                         Progress* progress) {
  VICINITY_RETURN_IF_ERROR(WritePartition(source, cut.assignment, cut.order, flags.output,
                                          Provenance(source, flags), progress));
  PartitionReport& report = cut.report;
  if (cut.vip.has_value()) {
    report.ranking = DescribeRanking(kDefaultRanking, flags.vip, cut.vip->plan);
    report.ranking.set_sampled_batches(cut.vip->sampled_batches);
    VICINITY_RETURN_IF_ERROR(
        At(absl::StrCat(flags.output, " is written, but not its ranking, which `vicinity rank ",
                        flags.output, "` makes"),
           WriteRanking(flags.output, report.ranking,
                        RankOrders(Renumber(std::move(cut.vip->scores), cut.order)))));
  }
  VICINITY_ASSIGN_OR_RETURN(const proto::Manifest manifest, ReadManifest(flags.output));
  report.fingerprint = manifest.fingerprint();
  return report;
}

absl::Status RunPartition(const Flags& flags, const ToolContext& tool, std::ostream& out) {
  if (std::filesystem::exists(flags.output)) {
    return absl::AlreadyExistsError(absl::StrCat(flags.output, " exists already"));
  }
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Assigner> assigner, MakeAssigner(flags, tool));
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Dataset> source, OpenForPasses(flags.input));
  VICINITY_RETURN_IF_ERROR(CheckAssignable(*source, flags.num_shards));
  bool with_vip = false;
  {
    VICINITY_ASSIGN_OR_RETURN(const std::optional<HomePlan> plan, CheckVip(*source, flags));
    VICINITY_RETURN_IF_ERROR(CheckRoom(*source, flags, *assigner, plan, tool));
    with_vip = plan.has_value();
  }
  Cut cut;
  // All files, also those that only the writing reads: what is damaged is told before the hours
  // that an assignment may take.
  VICINITY_RETURN_IF_ERROR(ReadWhole(AllFiles(*source), tool.progress, [&] {
    return MakeCut(*source, flags, assigner.get(), with_vip, tool.progress, &cut);
  }));
  VICINITY_ASSIGN_OR_RETURN(const PartitionReport report,
                            WriteCut(*source, flags, std::move(cut), tool.progress));
  return PrintAndKeep(report, flags, out);
}

}  // namespace

Action DeclarePartition(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  app->add_option("--input", flags->input, "the dataset to cut")->type_name("DIR")->required();
  app->add_option("--output", flags->output, "directory to make")->type_name("DIR")->required();
  app->add_option("--shards", flags->num_shards, "how many")
      ->type_name("K")
      ->default_str("")
      ->required();
  app->add_option("--assigner", flags->assigner,
                  "who decides: metis (few cut edges, balanced), hash, range or file")
      ->type_name("NAME")
      ->check(CLI::IsMember({"metis", "hash", "range", "file"}).description(""));
  app->add_option("--assignment", flags->assignment,
                  "for file: one shard number a node, .npy or text; once for each node type")
      ->type_name("[TYPE=]FILE")
      ->allow_extra_args(false)
      ->default_str("");
  app->add_option("--tolerance", flags->tolerance,
                  "for metis: most / mean load; one, or four for train, validation, other nodes, "
                  "in-edges")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("X,...")
      ->default_str("1.05");
  app->add_option("--time-limit", flags->time_limit, "for metis")->type_name("DURATION");
  app->add_option("--seed", flags->seed, "for metis: the same seed makes the same cut");
  app->add_option("--memory", flags->memory, "refuse what needs more; default: what is available")
      ->type_name("SIZE");
  app->add_option("--scratch", flags->scratch, "for metis' files; default: the output's folder")
      ->type_name("DIR");
  AddVipFlags(app, &flags->vip);
  AddCalibrationFlag(app, &flags->calibration);
  AddFormatFlag(app, &flags->format);
  return [flags](const ToolContext& tool, std::ostream& out) {
    return RunPartition(*flags, tool, out);
  };
}

}  // namespace vicinity::cli
