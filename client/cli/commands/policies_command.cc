#include "client/cli/commands/policies_command.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "client/cli/flags/query_flags.h"
#include "client/cli/flags/vip_flags.h"
#include "client/cli/output/line_chart.h"
#include "client/cli/output/output.h"
#include "client/cli/output/policy_report_output.h"
#include "client/cli/output/svg_chart.h"
#include "client/cli/output/text_chart.h"
#include "client/planning/home_plan.h"
#include "client/planning/policy_report.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/whole_read.h"
#include "proto/common/file.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

struct Flags {
  std::string directory;
  VipRequest vip;
  QueryFlags query;
  PolicyReportOptions report;
  std::string picture;
  OutputFormat format = OutputFormat::kTable;
};

absl::Status RunPolicies(const Flags& flags, const ToolContext& tool, std::ostream& out) {
  VICINITY_RETURN_IF_ERROR(flags.report.Validate());
  VICINITY_ASSIGN_OR_RETURN(const VipRequest request, WithQuery(flags.vip, flags.query));
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Dataset> dataset, OpenForPasses(flags.directory));
  VICINITY_ASSIGN_OR_RETURN(const HomePlan plan,
                            PlanHomes(*dataset, AssignmentOf(dataset->book()), request));
  VICINITY_ASSIGN_OR_RETURN(const PolicyReport report,
                            CountPolicies(*dataset, plan, flags.report, tool.progress));
  const LineChart chart = PolicyChart(report, dataset->manifest().name());
  if (!flags.picture.empty()) {
    VICINITY_RETURN_IF_ERROR(WriteFileAtomically(flags.picture, SvgChart(chart)));
  }
  if (flags.format == OutputFormat::kJson) {
    PrintJson(PolicyReportJson(report), out);
    return absl::OkStatus();
  }
  PrintPolicyReport(report, out);
  out << '\n';
  PrintTextChart(chart, out);
  return absl::OkStatus();
}

}  // namespace

Action DeclarePolicies(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  app->add_option("DIRECTORY", flags->directory, "the dataset")->required();
  AddVipFlags(app, &flags->vip);
  AddQueryFlags(app, &flags->query);
  app->add_option("--replication", flags->report.replication,
                  "rows of the static cache, as shares of a mean shard's nodes")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("SHARE,...")
      ->default_str("0.05,0.1,0.2,0.5,1");
  app->add_option("--epochs", flags->report.num_epochs, "epochs sampled and counted");
  app->add_option("--simulated-epochs", flags->report.num_simulated_epochs,
                  "other epochs, for the policy that goes by simulation");
  app->add_option("--depth", flags->report.depth, "batches whose rows are fetched ahead");
  app->add_option("--windows", flags->report.windows,
                  "batches that wait sampled, a next-use policy for each")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("N,...")
      ->default_str("10,40");
  app->add_option("--run-seed", flags->report.run_seed, "of the sampling");
  app->add_option("--picture", flags->picture, "also draw a chart to this SVG file");
  AddFormatFlag(app, &flags->format);
  return [flags](const ToolContext& tool, std::ostream& out) {
    return RunPolicies(*flags, tool, out);
  };
}

}  // namespace vicinity::cli
