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
#include "absl/strings/str_cat.h"
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

absl::Status RunVersions(const GraphFlags& flags, std::ostream& out) {
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Graph> graph, OpenGraph(flags));
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
  const auto flags = std::make_shared<GraphFlags>();
  AddGraphFlags(app, flags.get());
  return [flags](const ToolContext&, std::ostream& out) { return RunVersions(*flags, out); };
}

}  // namespace vicinity::cli
