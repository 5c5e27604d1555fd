#include "client/cli/commands/graph/backup_command.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/backup/live_backup.h"
#include "client/cli/commands/partition_command.h"
#include "client/cli/flags/graph_flags.h"
#include "client/cli/output/output.h"
#include "client/graph.h"
#include "client/graph_impl.h"
#include "partition/dataset/dataset.h"
#include "partition/fold/fold.h"
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
  PartitionFlags cut;  // of a restore into another number of shards; 0: none
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

absl::Status RunList(const Flags& flags, const ToolContext& /*tool*/, std::ostream& out) {
  VICINITY_ASSIGN_OR_RETURN(const std::vector<KeptBackup> backups, ListBackups(flags.folder));
  if (flags.format == OutputFormat::kJson) {
    Json list = Json::array();
    for (const KeptBackup& backup : backups) {
      list.push_back({{"folder", backup.folder},
                      {"of", backup.of},
                      {"num_shards", backup.num_shards},
                      {"num_kept", backup.num_kept},
                      {"bytes", backup.bytes},
                      {"changed", absl::ToUnixSeconds(backup.changed)}});
    }
    PrintJson({{"backups", std::move(list)}}, out);
    return absl::OkStatus();
  }
  constexpr auto kRight = Table::Align::kRight;
  Table table({{"FOLDER"}, {"OF"}, {"SHARDS", kRight}, {"SIZE", kRight}, {"CHANGED"}});
  for (const KeptBackup& backup : backups) {
    table.AddRow({backup.folder, backup.of,
                  absl::StrCat(backup.num_kept, " of ", backup.num_shards),
                  HumanBytes(backup.bytes),
                  absl::FormatTime("%Y-%m-%d %H:%M:%S", backup.changed, absl::LocalTimeZone())});
  }
  table.Print(out);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Dataset>> OpenGrowing(const std::string& directory) {
  Dataset::Options options;
  options.grows = true;
  options.verify_at_touch = true;
  return Dataset::Open(directory, options);
}

// Into a dataset of another number of shards, without changes: they are made again beside it,
// folded and cut. What is beside it goes when all is done.
absl::Status RestoreAndCut(const Flags& flags, const ToolContext& tool, std::ostream& out) {
  PartitionFlags cut = flags.cut;
  cut.format = flags.format;
  const std::string changes = absl::StrCat(cut.request.output, ".changes");
  cut.input = absl::StrCat(cut.request.output, ".folded");
  for (const std::string& there : {cut.request.output, cut.input}) {
    std::error_code error;
    if (std::filesystem::exists(there, error)) {
      return absl::AlreadyExistsError(absl::StrCat(there, " exists already"));
    }
  }
  {
    VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Dataset> dataset, OpenGrowing(flags.data));
    VICINITY_RETURN_IF_ERROR(
        RestoreChanges(flags.folder, *dataset, changes, tool.progress).status());
    VICINITY_RETURN_IF_ERROR(FoldChanges(*dataset, changes, cut.input, tool.progress).status());
  }
  VICINITY_RETURN_IF_ERROR(
      At(absl::StrCat("the folded dataset is in ", cut.input), RunPartition(cut, tool, out)));
  for (const std::string& made : {changes, cut.input}) {
    std::error_code left;  // it is only in the way
    std::filesystem::remove_all(made, left);
  }
  return absl::OkStatus();
}

absl::Status RunRestore(const Flags& flags, const ToolContext& tool, std::ostream& out) {
  const bool cuts = flags.cut.request.num_shards != 0;
  if (cuts == !flags.changes.empty() || cuts == flags.cut.request.output.empty()) {
    return absl::InvalidArgumentError("--changes is needed, or --num-shards and --out");
  }
  if (cuts) return RestoreAndCut(flags, tool, out);
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Dataset> dataset, OpenGrowing(flags.data));
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
  CLI::App* const list = app->add_subcommand("list", "the backups in a folder");
  CLI::App* const verify = app->add_subcommand("verify", "read all of it");
  CLI::App* const restore = app->add_subcommand("restore", "make the changes again of it");
  for (CLI::App* const reads : {list, verify, restore}) {
    reads
        ->add_option(
            "--from", flags->folder,
            reads == list ? "a backup's folder, or one of such folders" : "the backup's folder")
        ->type_name("DIR")
        ->required();
    AddFormatFlag(reads, &flags->format);
  }
  list->callback(runs(&RunList));
  verify->callback(runs(&RunVerify));
  restore->add_option("--data", flags->data, "the dataset that they are changes of")
      ->type_name("DIR")
      ->required();
  restore
      ->add_option("--changes", flags->changes,
                   "where servers are to keep them (--changes); gone on with if it is there")
      ->type_name("DIR");
  restore
      ->add_option("--num-shards", flags->cut.request.num_shards,
                   "instead: make a dataset of so many shards, without changes")
      ->type_name("K")
      ->default_str("");
  restore->add_option("--out", flags->cut.request.output, "with --num-shards: directory to make")
      ->type_name("DIR");
  AddCutFlags(restore, &flags->cut);
  restore->callback(runs(&RunRestore));
  return [action](const ToolContext& tool, std::ostream& out) { return (*action)(tool, out); };
}

}  // namespace vicinity::cli
