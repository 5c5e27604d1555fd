#include "client/cli/commands/graph/fold_command.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "client/backup/live_fold.h"
#include "client/cli/flags/changes_size.h"
#include "client/cli/flags/credential_flags.h"
#include "client/cli/flags/graph_flags.h"
#include "client/cli/flags/server_probe.h"
#include "client/cli/flags/servers_flags.h"
#include "client/cli/output/output.h"
#include "client/graph.h"
#include "client/graph_impl.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/manifest.h"
#include "partition/dataset/whole_read.h"
#include "partition/fold/fold.h"
#include "proto/common/human_text.h"
#include "proto/common/status.h"
#include "proto/manifest.pb.h"

namespace vicinity::cli {
namespace {

struct Flags {
  std::string data;
  std::string changes;
  std::string out;
  GraphFlags servers;  // without `data`
  std::string changes_from;
  bool keep_changes = false;
  std::string when_larger;  // a size; empty: in any case
  OutputFormat format = OutputFormat::kTable;

  bool beside_servers() const { return !servers.cluster.empty(); }
};

std::string OutputOf(const Flags& flags) {
  if (!flags.out.empty()) return flags.out;
  return absl::StrCat(std::string(absl::StripSuffix(flags.data, "/")), ".folded");
}

nlohmann::ordered_json TypesJson(const std::vector<FoldedType>& types) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const FoldedType& type : types) {
    json.push_back({{"type", type.name},
                    {"num_before", type.in_files},
                    {"num_removed", type.removed()},
                    {"num_added", type.added},
                    {"num_now", type.kept + type.added}});
    if (type.no_longer_dense) json.back()["no_longer_dense"] = true;
  }
  return json;
}

void PrintAsJson(const FoldReport& report, const std::string& output, uint64_t fingerprint,
                 std::ostream& out) {
  nlohmann::ordered_json json;
  json["folded"] = true;
  json["directory"] = output;
  json["fingerprint"] = absl::StrFormat("%016x", fingerprint);  // 64 bits: no JSON number
  json["versions"] = report.versions;
  json["nodes"] = TypesJson(report.node_types);
  json["edges"] = TypesJson(report.edge_types);
  json["rankings_left_out"] = report.rankings;
  json["num_indexes_left_out"] = report.num_indexes;
  PrintJson(json, out);
}

void AddRows(const char* what, const std::vector<FoldedType>& types, Table* table) {
  for (const FoldedType& type : types) {
    table->AddRow({what, type.name, HumanCount(type.in_files), HumanCount(type.removed()),
                   HumanCount(type.added), HumanCount(type.kept + type.added)});
  }
}

// What is another than users of the old dataset may expect.
void PrintNotes(const FoldReport& report, const std::string& output, std::ostream& out) {
  for (const FoldedType& type : report.node_types) {
    if (!type.no_longer_dense) continue;
    out << "Ids of " << type.name << " are no longer 0 to "
        << HumanCount(type.kept + type.added - 1)
        << ": they are 64-bit ids now, the same numbers.\n";
  }
  if (!report.rankings.empty()) {
    out << "Rankings are left out (" << absl::StrJoin(report.rankings, ", ")
        << "): make them anew with `vicinity rank " << output << "`.\n";
  }
  if (report.num_indexes > 0) {
    out << "Indexes of " << HumanCount(report.num_indexes)
        << " columns are left out: make them anew with `vicinity index " << output << "`.\n";
  }
}

void PrintAsTable(const FoldReport& report, const std::string& output, bool beside_servers,
                  std::ostream& out) {
  out << output << ": " << HumanCount(static_cast<int64_t>(report.versions.size()))
      << " shards, folded at versions " << absl::StrJoin(report.versions, ", ") << "\n\n";
  Table table({{""},
               {"type"},
               {"before", Table::Align::kRight},
               {"removed", Table::Align::kRight},
               {"added", Table::Align::kRight},
               {"now", Table::Align::kRight}});
  AddRows("nodes", report.node_types, &table);
  AddRows("edges", report.edge_types, &table);
  table.Print(out);
  out << '\n';
  PrintNotes(report, output, out);
  if (beside_servers) {
    out << "Next: copy it to the servers, then `vicinity swap` puts it in the old one's place, "
           "with "
           "what was written behind these versions.\n";
    return;
  }
  out << "Next: start the servers with `--data " << output
      << "` and an empty folder as `--changes`; the old one's changes are in these files.\n";
}

// Whether the changes take more than was said; if not, says so.
absl::StatusOr<bool> AreLarger(const Flags& flags, std::ostream& out) {
  if (flags.when_larger.empty()) return true;
  const int64_t limit = ParseBytes(flags.when_larger);
  if (limit < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--when-larger '", flags.when_larger, "'; write it as 512M or 4G"));
  }
  ServersFlags servers;
  servers.cluster = flags.servers.cluster;
  servers.timeout_seconds = flags.servers.timeout_seconds;
  servers.credentials = flags.servers.credentials;
  VICINITY_ASSIGN_OR_RETURN(const std::vector<ServerTarget> targets, TargetsOf(servers));
  VICINITY_ASSIGN_OR_RETURN(
      const ChangesSize largest,
      LargestChanges(targets, AskAll(targets, servers.timeout(), &AskStatusAndMetrics)));
  if (largest.larger() > limit) return true;
  if (flags.format == OutputFormat::kJson) {
    PrintJson({{"folded", false},
               {"server", largest.server},
               {"memory_bytes", largest.memory_bytes},
               {"disk_bytes", largest.disk_bytes}},
              out);
  } else {
    out << "Nothing is folded: changes take " << HumanBytes(largest.memory_bytes)
        << " of memory and " << HumanBytes(largest.disk_bytes) << " of disk of server \""
        << largest.server << "\", which has most, and may take " << HumanBytes(limit) << "\n";
  }
  return false;
}

absl::StatusOr<FoldReport> FoldBesideServers(const Flags& flags, const std::string& output,
                                             Progress* progress) {
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Graph> graph, OpenGraph(flags.servers));
  if (!graph->is_live()) {
    return absl::FailedPreconditionError(
        "the graph is read-only (no `changes` in its cluster file): there is nothing to fold");
  }
  Dataset::Options options;
  options.grows = true;
  options.verify_at_touch = true;
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Dataset> dataset,
                            Dataset::Open(flags.data, options));
  return FoldLive(graph->impl().router(), graph->fingerprint(), *dataset,
                  {output, flags.changes_from, flags.keep_changes}, progress);
}

absl::StatusOr<FoldReport> FoldStopped(const Flags& flags, const std::string& output,
                                       Progress* progress) {
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Dataset> dataset, OpenForPasses(flags.data));
  return FoldChanges(*dataset, flags.changes, output, progress);
}

absl::Status RunFold(const Flags& flags, const ToolContext& tool, std::ostream& out) {
  if (flags.beside_servers() == !flags.changes.empty()) {
    return absl::InvalidArgumentError("one of --changes and --cluster is needed");
  }
  VICINITY_ASSIGN_OR_RETURN(const bool wanted, AreLarger(flags, out));
  if (!wanted) return absl::OkStatus();
  const std::string output = OutputOf(flags);
  std::error_code error;
  if (std::filesystem::exists(output, error)) {
    return absl::AlreadyExistsError(absl::StrCat(output, " exists already; say another by --out"));
  }
  VICINITY_ASSIGN_OR_RETURN(const FoldReport report,
                            flags.beside_servers() ? FoldBesideServers(flags, output, tool.progress)
                                                   : FoldStopped(flags, output, tool.progress));
  if (flags.format == OutputFormat::kTable) {
    PrintAsTable(report, output, flags.beside_servers(), out);
    return absl::OkStatus();
  }
  VICINITY_ASSIGN_OR_RETURN(const proto::Manifest manifest, ReadManifest(output));
  PrintAsJson(report, output, manifest.fingerprint(), out);
  return absl::OkStatus();
}

}  // namespace

Action DeclareFold(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  app->add_option("--data", flags->data, "the dataset that servers served")
      ->type_name("DIR")
      ->required();
  CLI::Option* const changes =
      app->add_option("--changes", flags->changes,
                      "their --changes, with the folders of all shards; no server may have it")
          ->type_name("DIR");
  CLI::Option* const cluster =
      app->add_option("--cluster", flags->servers.cluster,
                      "instead: the cluster file of servers, which go on meanwhile")
          ->excludes(changes);
  app->add_option("--out", flags->out, "directory to make; default: the dataset's name and .folded")
      ->type_name("DIR");
  app->add_option("--changes-from", flags->changes_from,
                  "a backup's folder: what it has is not read from the servers")
      ->type_name("DIR")
      ->needs(cluster);
  app->add_flag("--keep-changes", flags->keep_changes,
                "leave the changes that were read in the new directory's name and .changes")
      ->needs(cluster);
  app->add_option("--when-larger", flags->when_larger,
                  "only if the changes take more than this of a server's memory or disk")
      ->type_name("SIZE")
      ->needs(cluster);
  app->add_option("--timeout", flags->servers.timeout_seconds, "seconds to wait for a server")
      ->capture_default_str();
  AddFormatFlag(app, &flags->format);
  AddCredentialFlags(app, &flags->servers.credentials);
  return [flags](const ToolContext& tool, std::ostream& out) { return RunFold(*flags, tool, out); };
}

}  // namespace vicinity::cli
