#include "client/cli/commands/graph/walk_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/flags/graph_flags.h"
#include "client/cli/output/output.h"
#include "client/graph.h"
#include "partition/schema/schema.h"
#include "proto/common/human_text.h"
#include "proto/common/status.h"
#include "sampler/walk_spec.h"

namespace vicinity::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Flags {
  GraphFlags graph;
  std::vector<std::string> starts;
  std::vector<std::string> metapath;
  WalkSpec walk;
  int64_t walks = 1;  // of each start
  DrawId draw;
};

// In the user's ids, without what is behind their ends.
struct DrawnWalks {
  WalkSpec spec;
  std::vector<std::vector<Json>> nodes;  // of each walk
};

absl::StatusOr<std::vector<int32_t>> MetapathOf(const Schema& schema,
                                                const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (size_t type = 0; type < schema.edge_types.size(); ++type) {
    known.push_back(schema.EdgeTypeName(static_cast<int>(type)));
  }
  if (names.empty()) {
    if (known.size() == 1) return std::vector<int32_t>{0};
    return absl::InvalidArgumentError(absl::StrCat(
        "--metapath is needed: edge types that steps follow, of ", absl::StrJoin(known, ", ")));
  }
  std::vector<int32_t> types;
  for (const std::string& name : names) {
    types.push_back(schema.FindEdgeType(name));
    if (types.back() >= 0) continue;
    return absl::NotFoundError(absl::StrCat("--metapath: no edge type \"", name,
                                            "\" (or several relations of this name), there are ",
                                            absl::StrJoin(known, ", ")));
  }
  return types;
}

// Each of `starts` as often as it has walks, one behind the other.
absl::StatusOr<std::vector<int64_t>> Repeat(const std::vector<int64_t>& starts, int64_t walks,
                                            int64_t length) {
  const auto num_starts = static_cast<int64_t>(starts.size());
  if (walks < 1 || walks > kMaxWalkNodes / (length + 1) / std::max<int64_t>(num_starts, 1)) {
    return absl::InvalidArgumentError(absl::StrCat("--walks ", walks,
                                                   ": from 1 up, and all walks have at most ",
                                                   HumanCount(kMaxWalkNodes), " nodes"));
  }
  std::vector<int64_t> repeated;
  for (const int64_t start : starts) repeated.insert(repeated.end(), walks, start);
  return repeated;
}

absl::StatusOr<std::vector<std::vector<Json>>> InUserIds(const Graph& graph, const WalkSpec& spec,
                                                         const Walks& walks) {
  std::vector<std::vector<Json>> rows(walks.num_walks());
  for (int64_t step = 0; step <= walks.length; ++step) {
    std::vector<int64_t> nodes;
    std::vector<int64_t> of;  // whose they are
    for (int64_t walk = 0; walk < walks.num_walks(); ++walk) {
      const int64_t node = walks.nodes[walk * (walks.length + 1) + step];
      if (node < 0) continue;
      nodes.push_back(node);
      of.push_back(walk);
    }
    if (nodes.empty()) break;
    VICINITY_ASSIGN_OR_RETURN(const std::vector<Json> ids,
                              UserIdsOf(graph, NodeTypeOfWalk(graph.schema(), spec, step), nodes));
    for (size_t i = 0; i < ids.size(); ++i) rows[of[i]].push_back(ids[i]);
  }
  return rows;
}

absl::StatusOr<DrawnWalks> Draw(const Graph& graph, const Flags& flags) {
  DrawnWalks drawn;
  drawn.spec = flags.walk;
  VICINITY_ASSIGN_OR_RETURN(drawn.spec.metapath, MetapathOf(graph.schema(), flags.metapath));
  if (const std::string problem = WalkProblem(graph.schema(), drawn.spec); !problem.empty()) {
    return absl::InvalidArgumentError(problem);
  }
  VICINITY_ASSIGN_OR_RETURN(
      const std::vector<int64_t> starts,
      ResolveTyped(graph, NodeTypeOfWalk(graph.schema(), drawn.spec, 0), flags.starts));
  VICINITY_ASSIGN_OR_RETURN(const std::vector<int64_t> repeated,
                            Repeat(starts, flags.walks, drawn.spec.length));
  const Result<Walks> walks = graph.Walk(repeated, drawn.spec, flags.draw);
  if (!walks.ok()) return ToStatus(walks.error());
  VICINITY_ASSIGN_OR_RETURN(drawn.nodes, InUserIds(graph, drawn.spec, *walks));
  return drawn;
}

bool HasEnded(const DrawnWalks& drawn, const std::vector<Json>& walk) {
  return static_cast<int64_t>(walk.size()) <= drawn.spec.length;
}

void PrintAsJson(const Schema& schema, const DrawnWalks& drawn, const Flags& flags,
                 std::ostream& out) {
  Json metapath = Json::array();
  for (const int32_t type : drawn.spec.metapath) metapath.push_back(schema.EdgeTypeName(type));
  Json node_types = Json::array();  // of a walk's nodes
  for (int64_t step = 0; step <= drawn.spec.length; ++step) {
    node_types.push_back(schema.node_types[NodeTypeOfWalk(schema, drawn.spec, step)].name);
  }
  PrintJson(
      {{"metapath", metapath},
       {"length", drawn.spec.length},
       {"draw",
        {{"seed", flags.draw.run_seed}, {"epoch", flags.draw.epoch}, {"batch", flags.draw.batch}}},
       {"node_types", node_types},
       {"walks", drawn.nodes}},
      out);
}

void PrintAsTable(const DrawnWalks& drawn, std::ostream& out) {
  Table table({{"START"}, {"STEPS", Table::Align::kRight}, {"NODES"}});
  int64_t num_ended = 0;
  for (const std::vector<Json>& walk : drawn.nodes) {
    std::vector<std::string> nodes;
    for (size_t i = 1; i < walk.size(); ++i) nodes.push_back(IdAsText(walk[i]));
    if (HasEnded(drawn, walk)) {
      nodes.emplace_back("-");
      ++num_ended;
    }
    table.AddRow(
        {IdAsText(walk.front()), absl::StrCat(walk.size() - 1), absl::StrJoin(nodes, " ")});
  }
  table.Print(out);
  out << '\n'
      << HumanCount(static_cast<int64_t>(drawn.nodes.size())) << " walks of up to "
      << drawn.spec.length << " steps, " << HumanCount(num_ended) << " of which ended before\n";
}

absl::Status RunWalk(const Flags& flags, std::ostream& out) {
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Graph> graph, OpenGraph(flags.graph));
  VICINITY_ASSIGN_OR_RETURN(const DrawnWalks drawn, Draw(*graph, flags));
  if (flags.graph.format == OutputFormat::kJson) {
    PrintAsJson(graph->schema(), drawn, flags, out);
  } else {
    PrintAsTable(drawn, out);
  }
  return absl::OkStatus();
}

void AddWalkFlags(CLI::App* app, Flags* flags) {
  app->add_option("--starts", flags->starts,
                  "ids of the nodes to start from, as the user gave them")
      ->delimiter(',')
      ->type_name("ID,ID,...")
      ->required();
  app->add_option("--length", flags->walk.length, "steps of a walk")->required();
  app->add_option("--metapath", flags->metapath,
                  "edge types that steps follow in turn, over and over, if there are several")
      ->delimiter(',')
      ->type_name("TYPE,TYPE,...");
  app->add_option("--walks", flags->walks, "from each start")->capture_default_str();
  app->add_option("--weighted-by", flags->walk.weighted_by,
                  "draw by this weight column where an edge type has it (default: uniformly)")
      ->type_name("COLUMN");
  app->add_option("--restart-prob", flags->walk.restart_prob,
                  "chance with which a walk ends, before each step")
      ->capture_default_str();
  app->add_option("--p", flags->walk.p, "node2vec: one over it is the factor of edges back")
      ->capture_default_str();
  app->add_option("--q", flags->walk.q,
                  "node2vec: one over it is the factor of edges farther from where a walk was")
      ->capture_default_str();
}

}  // namespace

Action DeclareWalk(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  AddGraphFlags(app, &flags->graph);
  AddWalkFlags(app, flags.get());
  app->add_option("--seed", flags->draw.run_seed, "of the run: which draws")->capture_default_str();
  app->add_option("--epoch", flags->draw.epoch, "likewise")->capture_default_str();
  app->add_option("--batch", flags->draw.batch, "likewise")->capture_default_str();
  return [flags](const ToolContext&, std::ostream& out) { return RunWalk(*flags, out); };
}

}  // namespace vicinity::cli
