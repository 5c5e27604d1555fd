#include "client/cli/commands/index_command.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/output/output.h"
#include "partition/dataset/manifest.h"
#include "partition/dataset/schema_proto.h"
#include "partition/schema/schema.h"
#include "partition/writing/index_builder.h"
#include "proto/common/folder_lock.h"
#include "proto/common/human_text.h"
#include "proto/common/status.h"
#include "proto/manifest.pb.h"

namespace vicinity::cli {
namespace {

struct Flags {
  std::string directory;
  std::vector<std::string> nodes;
  std::vector<std::string> edges;
  OutputFormat format = OutputFormat::kTable;
};

// The type is all before the last colon: those of edges may have some in their names.
absl::StatusOr<ColumnToIndex> FindColumn(const Schema& schema, const std::string& text,
                                         bool of_edges) {
  const std::string flag = of_edges ? "--edges" : "--nodes";
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat(flag, " ", text, ": expected TYPE:COLUMN, as in paper:year"));
  }
  const std::string type = text.substr(0, colon);
  const std::string column = text.substr(colon + 1);
  ColumnToIndex found;
  found.of_edges = of_edges;
  found.type = of_edges ? schema.FindEdgeType(type) : schema.FindNodeType(type);
  if (found.type < 0) {
    return absl::InvalidArgumentError(absl::StrCat(flag, " ", text, ": there is no ",
                                                   of_edges ? "edge" : "node", " type ", type));
  }
  found.column = of_edges ? schema.edge_types[found.type].FindColumn(column)
                          : schema.node_types[found.type].FindColumn(column);
  if (found.column >= 0) return found;
  return absl::InvalidArgumentError(
      absl::StrCat(flag, " ", text, ": type ", type, " has no column ", column));
}

absl::StatusOr<std::vector<ColumnToIndex>> ColumnsOf(const Flags& flags) {
  if (flags.nodes.empty() && flags.edges.empty()) {
    return absl::InvalidArgumentError("nothing to index: give --nodes, --edges or both");
  }
  VICINITY_ASSIGN_OR_RETURN(const proto::Manifest manifest, ReadManifest(flags.directory));
  VICINITY_ASSIGN_OR_RETURN(const Schema schema, SchemaFromProto(manifest.schema()));
  std::vector<ColumnToIndex> columns;
  for (const std::string& text : flags.nodes) {
    VICINITY_ASSIGN_OR_RETURN(columns.emplace_back(), FindColumn(schema, text, false));
  }
  for (const std::string& text : flags.edges) {
    VICINITY_ASSIGN_OR_RETURN(columns.emplace_back(), FindColumn(schema, text, true));
  }
  return columns;
}

absl::Status RunIndex(const Flags& flags, const ToolContext& tool, std::ostream& out) {
  VICINITY_ASSIGN_OR_RETURN(const std::vector<ColumnToIndex> columns, ColumnsOf(flags));
  LockWait wait;
  wait.told = [&tool](const std::string& text) { *tool.narration << text << std::endl; };
  VICINITY_ASSIGN_OR_RETURN(const IndexReport report,
                            BuildIndexes(flags.directory, columns, wait, tool.progress));
  const auto num_asked = static_cast<int64_t>(columns.size());
  if (flags.format == OutputFormat::kJson) {
    nlohmann::ordered_json json;
    json["directory"] = flags.directory;
    json["num_built"] = report.num_built;
    json["num_there"] = num_asked - report.num_built;
    json["num_bytes"] = report.num_bytes;
    PrintJson(json, out);
    return absl::OkStatus();
  }
  out << flags.directory << ": " << HumanCount(report.num_built) << " columns indexed, "
      << HumanBytes(report.num_bytes) << "; " << HumanCount(num_asked - report.num_built)
      << " had an index already\n";
  return absl::OkStatus();
}

}  // namespace

Action DeclareIndex(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  app->add_option("DIRECTORY", flags->directory, "the dataset")->required();
  app->add_option("--nodes", flags->nodes, "columns of nodes, TYPE:COLUMN,...")->delimiter(',');
  app->add_option("--edges", flags->edges, "columns of edges, TYPE:COLUMN,...")->delimiter(',');
  AddFormatFlag(app, &flags->format);
  return
      [flags](const ToolContext& tool, std::ostream& out) { return RunIndex(*flags, tool, out); };
}

}  // namespace vicinity::cli
