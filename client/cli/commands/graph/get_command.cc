#include "client/cli/commands/graph/get_command.h"

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "client/cli/flags/graph_flags.h"
#include "client/cli/output/output.h"
#include "client/cli/output/row_values.h"
#include "client/graph.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "proto/common/human_text.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

struct Flags {
  GraphFlags graph;
  std::string type;
  std::string id;
  std::vector<std::string> columns;  // empty: all
};

struct InDegree {
  std::string edge_type;
  int64_t count = 0;
};

struct Node {
  std::string type;
  int64_t global_id = 0;
  int32_t shard = 0;
  std::vector<Rows> columns;  // one row each
  std::vector<InDegree> in_degrees;
};

// Along every edge type that ends in the node's type.
absl::StatusOr<std::vector<InDegree>> FetchInDegrees(const Graph& graph, int32_t type,
                                                     int64_t node) {
  const Schema& schema = graph.schema();
  std::vector<InDegree> in_degrees;
  SamplingSpec spec;
  spec.fanouts.emplace_back();
  for (size_t e = 0; e < schema.edge_types.size(); ++e) {
    const bool ends_here = schema.edge_types[e].target_type == type;
    spec.fanouts[0].push_back(ends_here ? kAllNeighbors : 0);
  }
  for (size_t e = 0; e < schema.edge_types.size(); ++e) {
    if (spec.fanouts[0][e] != 0) {
      in_degrees.push_back({schema.EdgeTypeName(static_cast<int>(e)), 0});
    }
  }
  if (in_degrees.empty()) return in_degrees;
  const Result<SampledGraph> sampled = graph.Sample(type, {node}, spec, DrawId());
  if (!sampled.ok()) return ToStatus(sampled.error());
  for (const Block& block : sampled.value().hops[0]) {
    for (InDegree& in_degree : in_degrees) {
      if (in_degree.edge_type == schema.EdgeTypeName(block.edge_type)) {
        in_degree.count = static_cast<int64_t>(block.sources.size());
      }
    }
  }
  return in_degrees;
}

absl::StatusOr<Node> FetchNode(const Graph& graph, const Flags& flags) {
  VICINITY_ASSIGN_OR_RETURN(const int32_t type, FindNodeTypeFlag(graph.schema(), flags.type));
  VICINITY_ASSIGN_OR_RETURN(const std::vector<int64_t> nodes,
                            ResolveTyped(graph, type, {flags.id}));
  const NodeTypeSpec& spec = graph.schema().node_types[type];
  Node node;
  node.type = spec.name;
  node.global_id = nodes[0];
  node.shard = graph.OwnerOf(type, nodes[0]);
  std::vector<std::string> columns = flags.columns;
  if (columns.empty()) {
    for (const ColumnSpec& column : spec.columns) columns.push_back(column.name);
  }
  for (const std::string& column : columns) {
    Result<Rows> rows = graph.Fetch(type, column, nodes);
    if (!rows.ok()) return ToStatus(rows.error());
    node.columns.push_back(*std::move(rows));
  }
  VICINITY_ASSIGN_OR_RETURN(node.in_degrees, FetchInDegrees(graph, type, nodes[0]));
  return node;
}

void PrintAsJson(const Node& node, const nlohmann::ordered_json& id, std::ostream& out) {
  nlohmann::ordered_json json = {
      {"type", node.type}, {"id", id}, {"global_id", node.global_id}, {"shard", node.shard}};
  json["columns"] = nlohmann::ordered_json::object();
  for (const Rows& rows : node.columns) {
    json["columns"][rows.spec.name] = RowAsJson(rows.spec, rows.bytes.data());
  }
  json["in_degrees"] = nlohmann::ordered_json::object();
  for (const InDegree& in_degree : node.in_degrees) {
    json["in_degrees"][in_degree.edge_type] = in_degree.count;
  }
  PrintJson(json, out);
}

void PrintAsTable(const Node& node, const nlohmann::ordered_json& id, std::ostream& out) {
  out << node.type << ' ' << IdAsText(id) << ": shard " << node.shard << ", global id "
      << node.global_id << "\n\n";
  Table columns({{"COLUMN"}, {"TYPE"}, {"VALUE"}});
  for (const Rows& rows : node.columns) {
    columns.AddRow({rows.spec.name, std::string(DTypeName(rows.spec.dtype)),
                    RowAsText(rows.spec, rows.bytes.data())});
  }
  columns.Print(out);
  out << '\n';
  Table in_degrees({{"EDGE TYPE"}, {"IN-EDGES", Table::Align::kRight}});
  bool has_edges = false;
  for (const InDegree& in_degree : node.in_degrees) {
    if (in_degree.count == 0) continue;
    has_edges = true;
    in_degrees.AddRow({in_degree.edge_type, HumanCount(in_degree.count)});
  }
  if (has_edges) {
    in_degrees.Print(out);
  } else {
    out << "no in-edges\n";
  }
}

absl::Status RunGet(const Flags& flags, std::ostream& out) {
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Graph> graph, OpenGraph(flags.graph));
  VICINITY_ASSIGN_OR_RETURN(const Node node, FetchNode(*graph, flags));
  const int32_t type = graph->schema().FindNodeType(node.type);
  VICINITY_ASSIGN_OR_RETURN(const auto ids, UserIdsOf(*graph, type, {node.global_id}));
  if (flags.graph.format == OutputFormat::kJson) {
    PrintAsJson(node, ids[0], out);
  } else {
    PrintAsTable(node, ids[0], out);
  }
  return absl::OkStatus();
}

}  // namespace

Action DeclareGet(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  AddGraphFlags(app, &flags->graph);
  app->add_option("--type", flags->type, "the node's type, if there are several");
  app->add_option("--id", flags->id, "the node's id, as the user gave it")->required();
  app->add_option("--columns", flags->columns, "which columns; default: all")->delimiter(',');
  return [flags](const ToolContext&, std::ostream& out) { return RunGet(*flags, out); };
}

}  // namespace vicinity::cli
