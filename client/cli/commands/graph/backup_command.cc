#include "client/cli/commands/graph/backup_command.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "client/backup/live_backup.h"
#include "client/cli/flags/graph_flags.h"
#include "client/cli/output/output.h"
#include "client/graph.h"
#include "client/graph_impl.h"
#include "partition/dataset/dataset.h"
#include "proto/common/human_text.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Flags {
  GraphFlags graph;
  std::string folder;
  std::string data;
  std::string changes;
  OutputFormat format = OutputFormat::kTable;
};

void Print(const std::vector<KeptShard>& shards, OutputFormat format, std::ostream& out) {
  if (format == OutputFormat::kJson) {
    Json list = Json::array();
    for (const KeptShard& shard : shards) {
      list.push_back({{"shard", shard.shard},
                      {"version", shard.version},
                      {"added", shard.added},
                      {"bytes", shard.bytes},
                      {"half_written", shard.half_written}});
    }
    return PrintJson({{"shards", std::move(list)}}, out);
  }
  constexpr auto kRight = Table::Align::kRight;
  Table table({{"SHARD", kRight}, {"VERSION", kRight}, {"ADDED", kRight}, {"SIZE", kRight}, {""}});
  for (const KeptShard& shard : shards) {
    table.AddRow({absl::StrCat(shard.shard), HumanCount(static_cast<int64_t>(shard.version)),
                  HumanCount(static_cast<int64_t>(shard.added)), HumanBytes(shard.bytes),
                  shard.half_written ? "cut off behind it: the next backup goes on here" : ""});
  }
  table.Print(out);
}

absl::Status RunCreate(const Flags& flags, const ToolContext& tool, std::ostream& out) {
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Graph> graph, OpenGraph(flags.graph));
  if (!graph->is_live()) {
    return absl::FailedPreconditionError(
        "the graph is read-only (no `changes` in its cluster file): its files are all there is");
  }
  VICINITY_ASSIGN_OR_RETURN(
      const std::vector<KeptShard> kept,
      KeepChanges(graph->impl().router(), graph->fingerprint(), flags.folder, tool.progress));
  Print(kept, flags.graph.format, out);
  return absl::OkStatus();
}

absl::Status RunVerify(const Flags& flags, const ToolContext& tool, std::ostream& out) {
  VICINITY_ASSIGN_OR_RETURN(const std::vector<KeptShard> kept,
                            CheckKept(flags.folder, tool.progress));
  Print(kept, flags.format, out);
  return absl::OkStatus();
}

absl::Status RunRestore(const Flags& flags, const ToolContext& tool, std::ostream& out) {
  Dataset::Options options;
  options.grows = true;
  options.verify_at_touch = true;
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Dataset> dataset,
                            Dataset::Open(flags.data, options));
  VICINITY_ASSIGN_OR_RETURN(const std::vector<KeptShard> kept,
                            RestoreChanges(flags.folder, *dataset, flags.changes, tool.progress));
  Print(kept, flags.format, out);
  return absl::OkStatus();
}

}  // namespace

Action DeclareBackup(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  const auto action = std::make_shared<Action>();
  const auto runs = [flags,
                     action](absl::Status (*run)(const Flags&, const ToolContext&, std::ostream&)) {
    return [flags, action, run] {
      *action = [flags, run](const ToolContext& tool, std::ostream& out) {
        return run(*flags, tool, out);
      };
    };
  };
  app->require_subcommand(1);
  CLI::App* const create = app->add_subcommand("create", "bring a folder up to what is written");
  AddGraphFlags(create, &flags->graph);
  create->add_option("--to", flags->folder, "the backup's folder; made, or added to")
      ->type_name("DIR")
      ->required();
  create->callback(runs(&RunCreate));
  CLI::App* const verify = app->add_subcommand("verify", "read all of it");
  CLI::App* const restore = app->add_subcommand("restore", "make the changes again of it");
  for (CLI::App* const reads : {verify, restore}) {
    reads->add_option("--from", flags->folder, "the backup's folder")->type_name("DIR")->required();
    AddFormatFlag(reads, &flags->format);
  }
  verify->callback(runs(&RunVerify));
  restore->add_option("--data", flags->data, "the dataset that they are changes of")
      ->type_name("DIR")
      ->required();
  restore
      ->add_option("--changes", flags->changes,
                   "where servers are to keep them (--changes); gone on with if it is there")
      ->type_name("DIR")
      ->required();
  restore->callback(runs(&RunRestore));
  return [action](const ToolContext& tool, std::ostream& out) { return (*action)(tool, out); };
}

}  // namespace vicinity::cli
