#include "client/cli/commands/rank_command.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "cache/vip/rank_order.h"
#include "cache/vip/vip.h"
#include "client/cli/flags/query_flags.h"
#include "client/cli/flags/vip_flags.h"
#include "client/cli/output/expected_remote_output.h"
#include "client/cli/output/output.h"
#include "client/cli/output/ranking_output.h"
#include "client/planning/calibrated_scores.h"
#include "client/planning/expected_remote.h"
#include "client/planning/home_plan.h"
#include "partition/cut/assigner.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/ranking.h"
#include "partition/dataset/whole_read.h"
#include "proto/common/folder_lock.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

constexpr char kQueryRanking[] = "query";

struct Flags {
  std::string directory;
  std::optional<std::string> name;
  VipRequest vip;
  QueryFlags query;
  CalibrationOptions calibration;
  OutputFormat format = OutputFormat::kTable;
};

// Loaders take "default" unless told otherwise, and their batches are no query's answers.
std::string NameOf(const Flags& flags) {
  return flags.name.value_or(flags.query.given() ? kQueryRanking : kDefaultRanking);
}

absl::Status RunRank(const Flags& flags, const ToolContext& tool, std::ostream& out) {
  VICINITY_ASSIGN_OR_RETURN(const VipRequest request, WithQuery(flags.vip, flags.query));
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Dataset> dataset, OpenForPasses(flags.directory));
  const Assignment assignment = AssignmentOf(dataset->book());
  VICINITY_ASSIGN_OR_RETURN(const HomePlan plan, PlanHomes(*dataset, assignment, request));
  VICINITY_ASSIGN_OR_RETURN(const CalibratedScores calibrated,
                            CalibratedScoresOf(*dataset, plan, flags.calibration, tool.progress));
  const VipScores& scores = calibrated.scores;
  proto::Ranking description = DescribeRanking(NameOf(flags), request, plan);
  description.set_sampled_batches(calibrated.num_batches);
  LockWait wait;
  wait.told = [&tool](const std::string& text) { *tool.narration << text << std::endl; };
  VICINITY_RETURN_IF_ERROR(WriteRanking(flags.directory, description, RankOrders(scores), wait));
  const ExpectedRemote expected = ExpectRemote(scores, plan, assignment);
  if (flags.format == OutputFormat::kJson) {
    nlohmann::ordered_json json;
    json["ranking"] = RankingJson(description);
    json["expected"] = ExpectedRemoteJson(expected);
    PrintJson(json, out);
    return absl::OkStatus();
  }
  out << RankingText(description) << '\n';
  PrintExpectedRemote(expected, plan.query == nullptr, out);
  return absl::OkStatus();
}

}  // namespace

Action DeclareRank(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  app->add_option("DIRECTORY", flags->directory, "the dataset")->required();
  app->add_option(
      "--name", flags->name,
      "of the ranking; one of the same name is replaced; default: default, with a query "
      "query");
  AddVipFlags(app, &flags->vip);
  AddLinkFlags(app, &flags->vip);
  AddCalibrationFlag(app, &flags->calibration);
  AddQueryFlags(app, &flags->query);
  AddFormatFlag(app, &flags->format);
  return [flags](const ToolContext& tool, std::ostream& out) { return RunRank(*flags, tool, out); };
}

}  // namespace vicinity::cli
