#include "client/cli/commands/partition_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "client/cli/flags/vip_flags.h"
#include "client/cli/output/output.h"
#include "client/cli/output/partition_report_output.h"
#include "client/planning/available_resources.h"
#include "client/planning/graph_cut.h"
#include "client/planning/home_plan.h"
#include "client/planning/partition_estimate.h"
#include "partition/cut/assigner.h"
#include "partition/cut/file_assigner.h"
#include "partition/cut/hash_assigner.h"
#include "partition/cut/metis_assigner.h"
#include "partition/cut/range_assigner.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/whole_read.h"
#include "proto/command_line/choices.h"
#include "proto/common/file.h"
#include "proto/common/human_text.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

constexpr char kReportFile[] = "partition_report.json";

using Flags = PartitionFlags;

absl::StatusOr<std::unique_ptr<Assigner>> MakeMetis(const Flags& flags, const ToolContext& tool) {
  MetisOptions options;
  options.program = tool.program;
  options.scratch_directory =
      flags.scratch.empty() ? ParentOf(flags.request.output) : flags.scratch;
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

absl::Status CheckRoom(const Dataset& source, const Flags& flags, const Assigner& assigner,
                       const std::optional<HomePlan>& plan, const ToolContext& tool) {
  VICINITY_ASSIGN_OR_RETURN(AvailableResources available,
                            ResourcesAt(ParentOf(flags.request.output)));
  if (!flags.memory.empty()) {
    available.memory_bytes = ParseBytes(flags.memory);
    if (available.memory_bytes < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("memory '", flags.memory, "'; write it as 512M or 16G"));
    }
  }
  const WorkEstimate need =
      EstimatePartition(source, assigner.Estimate(source, flags.request.num_shards),
                        plan.has_value() ? &*plan : nullptr, flags.request.calibration);
  *tool.narration << NeedText(need, available) << std::endl;
  return CheckFits(need, available);
}

std::string Provenance(const Flags& flags) {
  const VipRequest& vip = flags.request.vip;
  std::string text = absl::StrCat(
      "vicinity partition --shards ", flags.request.num_shards, " --assigner ", flags.assigner,
      " --fanouts ", absl::StrJoin(vip.fanouts, ","), " --batch-size ", vip.batch_size);
  if (!vip.homes.empty()) absl::StrAppend(&text, " --homes ", vip.homes);
  return text;
}

absl::Status PrintAndKeep(const PartitionReport& report, const Flags& flags, std::ostream& out) {
  std::ostringstream json;
  PrintJson(PartitionReportJson(report), json);
  VICINITY_RETURN_IF_ERROR(
      WriteFileAtomically(absl::StrCat(flags.request.output, "/", kReportFile), json.str()));
  if (flags.format == OutputFormat::kJson) {
    out << json.str();
  } else {
    PrintPartitionReport(report, out);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RunPartition(const PartitionFlags& flags, const ToolContext& tool, std::ostream& out) {
  if (std::filesystem::exists(flags.request.output)) {
    return absl::AlreadyExistsError(absl::StrCat(flags.request.output, " exists already"));
  }
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Assigner> assigner, MakeAssigner(flags, tool));
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Dataset> source, OpenForPasses(flags.input));
  CutRequest request = flags.request;
  request.provenance = Provenance(flags);
  bool with_vip = false;
  {
    VICINITY_ASSIGN_OR_RETURN(const std::optional<HomePlan> plan, PlanForCut(*source, request));
    VICINITY_RETURN_IF_ERROR(CheckRoom(*source, flags, *assigner, plan, tool));
    with_vip = plan.has_value();
  }
  VICINITY_ASSIGN_OR_RETURN(const PartitionReport report,
                            CutGraph(*source, request, with_vip, assigner.get(), tool.progress));
  return PrintAndKeep(report, flags, out);
}

void AddCutFlags(CLI::App* app, PartitionFlags* flags) {
  app->add_option("--assigner", flags->assigner,
                  "who decides: metis (few cut edges, balanced), hash, range or file")
      ->type_name("metis|hash|range|file")
      ->check(OneOf({"metis", "hash", "range", "file"}));
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
  AddVipFlags(app, &flags->request.vip);
  AddCalibrationFlag(app, &flags->request.calibration);
}

Action DeclarePartition(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  app->add_option("--input", flags->input, "the dataset to cut")->type_name("DIR")->required();
  app->add_option("--output", flags->request.output, "directory to make")
      ->type_name("DIR")
      ->required();
  app->add_option("--shards", flags->request.num_shards, "how many")
      ->type_name("K")
      ->default_str("")
      ->required();
  AddCutFlags(app, flags.get());
  AddFormatFlag(app, &flags->format);
  return [flags](const ToolContext& tool, std::ostream& out) {
    return RunPartition(*flags, tool, out);
  };
}

}  // namespace vicinity::cli
