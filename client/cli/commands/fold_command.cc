#include "client/cli/commands/fold_command.h"

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
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "client/cli/output/output.h"
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
  OutputFormat format = OutputFormat::kTable;
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

void PrintAsTable(const FoldReport& report, const std::string& output, std::ostream& out) {
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
  out << "Next: start the servers with `--data " << output
      << "` and an empty folder as `--changes`; the old one's changes are in these files.\n";
}

absl::Status RunFold(const Flags& flags, const ToolContext& tool, std::ostream& out) {
  const std::string output = OutputOf(flags);
  std::error_code error;
  if (std::filesystem::exists(output, error)) {
    return absl::AlreadyExistsError(absl::StrCat(output, " exists already; say another by --out"));
  }
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Dataset> dataset, OpenForPasses(flags.data));
  VICINITY_ASSIGN_OR_RETURN(const FoldReport report,
                            FoldChanges(*dataset, flags.changes, output, tool.progress));
  if (flags.format == OutputFormat::kTable) {
    PrintAsTable(report, output, out);
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
  app->add_option("--changes", flags->changes,
                  "their --changes, with the folders of all shards; no server may have it")
      ->type_name("DIR")
      ->required();
  app->add_option("--out", flags->out, "directory to make; default: the dataset's name and .folded")
      ->type_name("DIR");
  AddFormatFlag(app, &flags->format);
  return [flags](const ToolContext& tool, std::ostream& out) { return RunFold(*flags, tool, out); };
}

}  // namespace vicinity::cli
