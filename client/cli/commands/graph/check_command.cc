#include "client/cli/commands/graph/check_command.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/commands/graph/row_load.h"
#include "client/cli/flags/graph_flags.h"
#include "client/cli/output/exit_code.h"
#include "client/cli/output/output.h"
#include "partition/schema/schema.h"
#include "proto/command_line/choices.h"
#include "proto/common/human_text.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

struct Flags {
  GraphFlags graph;
  std::string type;
  RowLoad load;
  double seconds = 10;
  double link_gbps = 10;
  double share = 0.5;
};

// The one with the widest rows, which fills a link soonest.
absl::StatusOr<std::string> WidestColumn(const NodeTypeSpec& type) {
  const ColumnSpec* widest = nullptr;
  for (const ColumnSpec& column : type.columns) {
    if (widest == nullptr || column.row_bytes() > widest->row_bytes()) widest = &column;
  }
  if (widest != nullptr) return widest->name;
  return absl::FailedPreconditionError(
      absl::StrCat("type \"", type.name, "\" has no columns to read: --type another"));
}

struct Verdict {
  double bytes_per_second = 0;
  double link_bytes_per_second = 0;
  bool pass = false;
};

Verdict Judge(const Flags& flags, const RowLoadResult& result) {
  Verdict verdict;
  verdict.bytes_per_second = static_cast<double>(result.bytes) / result.seconds;
  verdict.link_bytes_per_second = flags.link_gbps * 1e9 / 8;
  verdict.pass =
      result.failed == 0 && verdict.bytes_per_second >= flags.share * verdict.link_bytes_per_second;
  return verdict;
}

void PrintAsJson(const Flags& flags, const RowLoadResult& result, const Verdict& verdict,
                 std::ostream& out) {
  PrintJson({{"pass", verdict.pass},
             {"column", flags.load.column},
             {"seconds", result.seconds},
             {"calls", result.calls},
             {"failed", result.failed},
             {"rows", result.rows},
             {"rows_per_second", static_cast<double>(result.rows) / result.seconds},
             {"bytes_per_second", verdict.bytes_per_second},
             {"link_bytes_per_second", verdict.link_bytes_per_second},
             {"share", flags.share},
             {"call_seconds",
              {{"p50", ShareOf(result.call_seconds, 0.5)},
               {"p90", ShareOf(result.call_seconds, 0.9)},
               {"p99", ShareOf(result.call_seconds, 0.99)}}}},
            out);
}

void PrintAsText(const Flags& flags, const RowLoadResult& result, const Verdict& verdict,
                 std::ostream& out) {
  const double rows_per_second = static_cast<double>(result.rows) / result.seconds;
  out << flags.load.num_threads << " threads, " << HumanCount(flags.load.rows_per_call)
      << " random rows of " << flags.load.column << " a call, " << HumanSeconds(result.seconds)
      << ":\n"
      << HumanCount(std::llround(rows_per_second)) << " rows/s, "
      << HumanBytes(std::llround(verdict.bytes_per_second)) << "/s: "
      << absl::StrFormat("%.0f %% of a link of %g Gbit/s\n",
                         100 * verdict.bytes_per_second / verdict.link_bytes_per_second,
                         flags.link_gbps)
      << "calls: half within " << HumanSeconds(ShareOf(result.call_seconds, 0.5))
      << ", 99 % within " << HumanSeconds(ShareOf(result.call_seconds, 0.99)) << '\n'
      << (verdict.pass ? "PASS" : "FAIL")
      << absl::StrFormat(": %.0f %% are wanted\n", 100 * flags.share);
}

absl::Status RunPerf(Flags flags, std::ostream& out) {
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Graph> graph,
                            OpenGraph(flags.graph, Transport::kAuto));
  VICINITY_ASSIGN_OR_RETURN(flags.load.node_type, FindNodeTypeFlag(graph->schema(), flags.type));
  if (flags.load.column.empty()) {
    VICINITY_ASSIGN_OR_RETURN(flags.load.column,
                              WidestColumn(graph->schema().node_types[flags.load.node_type]));
  }
  if (graph->num_nodes(flags.load.node_type) == 0) {
    return absl::FailedPreconditionError("there are no nodes of this type to read rows of");
  }
  flags.load.duration = absl::Seconds(flags.seconds);
  VICINITY_ASSIGN_OR_RETURN(const RowLoadResult result, LoadRows(*graph, flags.load));
  if (result.calls == 0) return absl::UnavailableError(result.error);
  const Verdict verdict = Judge(flags, result);
  if (flags.graph.format == OutputFormat::kJson) {
    PrintAsJson(flags, result, verdict, out);
  } else {
    PrintAsText(flags, result, verdict, out);
  }
  if (verdict.pass) return absl::OkStatus();
  return WithExitCode(
      absl::FailedPreconditionError(
          result.failed > 0 ? absl::StrCat(result.failed, " calls failed: ", result.error)
                            : "rows come slower than is wanted"),
      ExitCode::kFailure);
}

}  // namespace

Action DeclareCheck(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  app->require_subcommand(1);
  CLI::App* const perf = app->add_subcommand("perf", "read random rows, against the link's rate");
  AddGraphFlags(perf, &flags->graph);
  perf->add_option("--type", flags->type, "the node type, where there are several")
      ->type_name("TYPE");
  perf->add_option("--column", flags->load.column, "whose rows (the widest)")->type_name("NAME");
  perf->add_option("--link-gbps", flags->link_gbps, "what the network between can do")
      ->capture_default_str()
      ->check(InRange(0.001, 100000.0));
  perf->add_option("--share", flags->share, "of the link's rate that makes it a PASS")
      ->capture_default_str()
      ->check(InRange(0.0, 1.0));
  perf->add_option("--seconds", flags->seconds, "how long to read")
      ->capture_default_str()
      ->check(InRange(0.1, 3600.0));
  perf->add_option("--threads", flags->load.num_threads, "calls under way at a time")
      ->capture_default_str()
      ->check(InRange(1, 256));
  perf->add_option("--rows", flags->load.rows_per_call, "rows of a call")
      ->capture_default_str()
      ->check(InRange(int64_t{1}, int64_t{1000000}));
  return [flags](const ToolContext&, std::ostream& out) { return RunPerf(*flags, out); };
}

}  // namespace vicinity::cli
