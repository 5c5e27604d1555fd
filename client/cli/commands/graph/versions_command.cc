#include "client/cli/commands/graph/versions_command.h"

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/changes.h"
#include "client/cli/flags/graph_flags.h"
#include "client/cli/output/output.h"
#include "client/graph.h"
#include "partition/schema/schema.h"
#include "proto/common/human_text.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Flags {
  GraphFlags graph;
  bool cursors = false;
  std::string drop;  // a cursor; empty: none
};

std::string TimeOf(const ShardCursor& cursor) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ",
                          absl::FromUnixMicros(cursor.unix_micros / 1000000 * 1000000),
                          absl::UTCTimeZone());
}

void PrintCursorsAsJson(const std::vector<ShardCursor>& cursors, std::ostream& out) {
  Json list = Json::array();
  for (const ShardCursor& cursor : cursors) {
    list.push_back({{"cursor", cursor.name},
                    {"shard", cursor.shard},
                    {"version", cursor.version},
                    {"term", cursor.term},
                    {"behind", cursor.behind},
                    {"acknowledged", TimeOf(cursor)}});
  }
  PrintJson({{"cursors", std::move(list)}}, out);
}

void PrintCursors(const std::vector<ShardCursor>& cursors, std::ostream& out) {
  constexpr auto kRight = Table::Align::kRight;
  Table table(
      {{"CURSOR"}, {"SHARD", kRight}, {"VERSION", kRight}, {"BEHIND", kRight}, {"ACKNOWLEDGED"}});
  for (const ShardCursor& cursor : cursors) {
    table.AddRow({absl::CHexEscape(cursor.name), absl::StrCat(cursor.shard),
                  HumanCount(static_cast<int64_t>(cursor.version)),
                  HumanCount(static_cast<int64_t>(cursor.behind)), TimeOf(cursor)});
  }
  table.Print(out);
}

void PrintAsJson(const Schema& schema, const std::vector<ShardState>& shards, std::ostream& out) {
  Json list = Json::array();
  for (const ShardState& shard : shards) {
    Json nodes = Json::object();
    for (size_t t = 0; t < shard.num_nodes.size(); ++t) {
      nodes[schema.node_types[t].name] = shard.num_nodes[t];
    }
    Json edges = Json::object();
    for (size_t t = 0; t < shard.num_edges.size(); ++t) {
      edges[schema.EdgeTypeName(static_cast<int>(t))] = shard.num_edges[t];
    }
    list.push_back({{"shard", shard.shard},
                    {"version", shard.version},
                    {"term", shard.term},
                    {"nodes", std::move(nodes)},
                    {"edges", std::move(edges)}});
  }
  PrintJson({{"shards", std::move(list)}}, out);
}

void PrintAsTable(const Schema& schema, const std::vector<ShardState>& shards, std::ostream& out) {
  constexpr auto kRight = Table::Align::kRight;
  std::vector<Table::Column> columns = {{"SHARD", kRight}, {"VERSION", kRight}};
  for (const NodeTypeSpec& type : schema.node_types) columns.push_back({type.name, kRight});
  for (size_t t = 0; t < schema.edge_types.size(); ++t) {
    columns.push_back({schema.EdgeTypeName(static_cast<int>(t)), kRight});
  }
  Table table(std::move(columns));
  for (const ShardState& shard : shards) {
    std::vector<std::string> cells = {absl::StrCat(shard.shard),
                                      HumanCount(static_cast<int64_t>(shard.version))};
    for (const int64_t count : shard.num_nodes) cells.push_back(HumanCount(count));
    for (const int64_t count : shard.num_edges) cells.push_back(HumanCount(count));
    table.AddRow(std::move(cells));
  }
  table.Print(out);
}

absl::Status RunCursors(const Graph& graph, OutputFormat format, std::ostream& out) {
  const auto cursors = ReadCursors(graph);
  if (!cursors.ok()) return ToStatus(cursors.error());
  if (format == OutputFormat::kJson) {
    PrintCursorsAsJson(*cursors, out);
  } else {
    PrintCursors(*cursors, out);
  }
  return absl::OkStatus();
}

absl::Status RunVersions(const Flags& all_flags, std::ostream& out) {
  const GraphFlags& flags = all_flags.graph;
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Graph> graph, OpenGraph(flags));
  if (!all_flags.drop.empty()) {
    const Error error = DropCursor(*graph, all_flags.drop);
    return error.ok() ? absl::OkStatus() : ToStatus(error);
  }
  if (all_flags.cursors) return RunCursors(*graph, flags.format, out);
  const auto shards = ReadShardStates(*graph);
  if (!shards.ok()) return ToStatus(shards.error());
  if (flags.format == OutputFormat::kJson) {
    PrintAsJson(graph->schema(), *shards, out);
  } else {
    PrintAsTable(graph->schema(), *shards, out);
  }
  return absl::OkStatus();
}

}  // namespace

Action DeclareVersions(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  AddGraphFlags(app, &flags->graph);
  CLI::Option* const cursors = app->add_flag(
      "--cursors", flags->cursors, "instead, readers of changes, and how far behind each is");
  app->add_option("--drop-cursor", flags->drop, "forget this reader of changes in all shards")
      ->type_name("NAME")
      ->excludes(cursors);
  return [flags](const ToolContext&, std::ostream& out) { return RunVersions(*flags, out); };
}

}  // namespace vicinity::cli
