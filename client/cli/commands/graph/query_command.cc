#include "client/cli/commands/graph/query_command.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/cli/flags/graph_flags.h"
#include "client/cli/flags/query_flags.h"
#include "client/cli/output/output.h"
#include "client/cli/output/row_values.h"
#include "client/graph.h"
#include "client/prepared_query.h"
#include "client/query/query.h"
#include "proto/common/human_text.h"
#include "proto/common/status.h"
#include "sampler/walk_spec.h"

namespace vicinity::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Flags {
  GraphFlags graph;
  QueryFlags query;
  std::vector<std::string> inputs;  // NAME=ID,ID,...
  bool explain = false;
  DrawId draw;
};

using TypedInputs = std::map<std::string, std::vector<std::string>>;

absl::StatusOr<TypedInputs> SplitInputs(const std::vector<std::string>& given) {
  TypedInputs inputs;
  for (const std::string& each : given) {
    const std::pair<std::string, std::string> parts = absl::StrSplit(each, absl::MaxSplits('=', 1));
    if (parts.first.empty() || parts.second.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--input ", each, ": a name, = and ids with commas between them"));
    }
    inputs[parts.first] = absl::StrSplit(parts.second, ',');
  }
  return inputs;
}

// Their ids are of the type of the step that has the input.
absl::StatusOr<QueryInputs> Resolve(const Graph& graph, const PreparedQuery& prepared,
                                    const TypedInputs& typed) {
  QueryInputs inputs;
  const std::vector<int32_t> types = prepared.node_types();
  for (size_t i = 0; i < types.size(); ++i) {
    const auto given = typed.find(prepared.query().steps[i].input);
    if (given == typed.end()) continue;
    VICINITY_ASSIGN_OR_RETURN(inputs[given->first], ResolveTyped(graph, types[i], given->second));
  }
  for (const auto& [name, ids] : typed) {
    if (inputs.count(name) == 0) inputs[name] = {};  // one that no step has: Run says so
  }
  return inputs;
}

void PrintCosts(const std::vector<StepCost>& costs, OutputFormat format, std::ostream& out) {
  if (format == OutputFormat::kJson) {
    Json steps = Json::array();
    for (const StepCost& cost : costs) {
      steps.push_back({{"name", cost.name},
                       {"does", cost.does},
                       {"lists", cost.lists},
                       {"nodes", cost.nodes},
                       {"shard_calls", cost.shard_calls},
                       {"bytes", cost.bytes}});
    }
    return PrintJson({{"steps", steps}}, out);
  }
  Table table({{"STEP"},
               {"LISTS", Table::Align::kRight},
               {"NODES", Table::Align::kRight},
               {"SHARD CALLS", Table::Align::kRight},
               {"BYTES", Table::Align::kRight},
               {"HOW"}});
  const auto rounded = [](double value) { return HumanCount(std::llround(value)); };
  double calls = 0;
  double bytes = 0;
  for (const StepCost& cost : costs) {
    table.AddRow({cost.name, rounded(cost.lists), rounded(cost.nodes), rounded(cost.shard_calls),
                  HumanBytes(std::llround(cost.bytes)), cost.does});
    calls += cost.shard_calls;
    bytes += cost.bytes;
  }
  table.Print(out);
  out << "\nexpected, nothing was drawn: " << rounded(calls) << " calls, "
      << HumanBytes(std::llround(bytes)) << ", by the degrees of up to 1,024 nodes of each type\n";
}

// One column as text and as JSON.
struct ShownColumn {
  const Rows* rows;
  std::string name;
};

std::vector<ShownColumn> ColumnsOf(const StepAnswer& step) {
  std::vector<ShownColumn> columns;
  for (const Rows& rows : step.columns) columns.push_back({&rows, rows.spec.name});
  for (const Rows& rows : step.edge_columns) columns.push_back({&rows, "edge " + rows.spec.name});
  return columns;
}

// Of a subgraph, each edge's ends.
std::vector<int64_t> SourcesOf(const StepAnswer& step) {
  return {step.edge_index.begin(), step.edge_index.begin() + step.edge_index.size() / 2};
}
std::vector<int64_t> TargetsOf(const StepAnswer& step) {
  return {step.edge_index.begin() + step.edge_index.size() / 2, step.edge_index.end()};
}

const char* RowAt(const Rows& rows, int64_t row) {
  return rows.bytes.data() + row * rows.spec.row_bytes();
}

// The user's, of a step's nodes and, where it is a subgraph, of what its edges lead to.
struct StepIds {
  std::vector<Json> nodes;
  std::vector<Json> targets;
};

absl::StatusOr<std::vector<StepIds>> UserIdsOfSteps(const Graph& graph, const Query& query,
                                                    const QueryAnswer& answer) {
  std::vector<StepIds> ids(answer.steps.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    const StepAnswer& step = answer.steps[i];
    VICINITY_ASSIGN_OR_RETURN(ids[i].nodes, UserIdsOf(graph, step.node_type, step.nodes));
    if (step.kind != StepKind::kInduced) continue;
    const Schema& schema = graph.schema();
    const int edge_type = schema.FindEdgeType(query.steps[i].type);
    VICINITY_ASSIGN_OR_RETURN(
        ids[i].targets, UserIdsOf(graph, schema.edge_types[edge_type].target_type, step.targets));
  }
  return ids;
}

// Of each walk of a step the user's ids of the nodes that it came by.
absl::StatusOr<std::vector<Json>> WalksAsJson(const Graph& graph, const StepAnswer& step) {
  const Walks& walks = step.walks;
  std::vector<Json> rows(walks.num_walks(), Json::array());
  for (int64_t made = 0; made < static_cast<int64_t>(step.walk_types.size()); ++made) {
    std::vector<int64_t> nodes;
    std::vector<int64_t> of_walks;
    for (int64_t walk = 0; walk < walks.num_walks(); ++walk) {
      const int64_t node = walks.nodes[walk * (walks.length + 1) + made];
      if (node < 0) continue;
      nodes.push_back(node);
      of_walks.push_back(walk);
    }
    VICINITY_ASSIGN_OR_RETURN(const std::vector<Json> ids,
                              UserIdsOf(graph, step.walk_types[made], nodes));
    for (size_t i = 0; i < ids.size(); ++i) rows[of_walks[i]].push_back(ids[i]);
  }
  return rows;
}

absl::Status PrintAsJson(const Graph& graph, const Flags& flags, const QueryAnswer& answer,
                         const std::vector<StepIds>& ids, std::ostream& out) {
  Json steps = Json::array();
  for (size_t i = 0; i < answer.steps.size(); ++i) {
    const StepAnswer& step = answer.steps[i];
    Json columns = Json::object();
    for (const ShownColumn& column : ColumnsOf(step)) {
      Json rows = Json::array();
      for (int64_t row = 0; row < column.rows->num_rows; ++row) {
        rows.push_back(RowAsJson(column.rows->spec, RowAt(*column.rows, row)));
      }
      columns[column.name] = rows;
    }
    steps.push_back({{"name", step.name},
                     {"node_type", graph.schema().node_types[step.node_type].name},
                     {"offsets", step.offsets},
                     {"nodes", ids[i].nodes},
                     {"edge_ids", step.edge_ids},
                     {"weights", step.weights},
                     {"columns", columns}});
    if (step.kind == StepKind::kInduced) {
      steps.back()["targets"] = ids[i].targets;
      steps.back()["edge_index"] = {Json(SourcesOf(step)), Json(TargetsOf(step))};
    }
    if (!step.counts.empty()) steps.back()["counts"] = step.counts;
    if (!step.residuals.empty()) {
      steps.back()["scores"] = step.scores;
      steps.back()["residuals"] = step.residuals;
    }
    if (step.walk_types.empty()) continue;
    VICINITY_ASSIGN_OR_RETURN(const std::vector<Json> walks, WalksAsJson(graph, step));
    steps.back()["walks"] = walks;
    steps.back()["walk_edges"] = step.walks.edge_ids;
  }
  PrintJson(
      {{"draw",
        {{"seed", flags.draw.run_seed}, {"epoch", flags.draw.epoch}, {"batch", flags.draw.batch}}},
       {"steps", steps}},
      out);
  return absl::OkStatus();
}

// One edge a line, with both its ends.
void PrintEdges(const StepAnswer& step, const StepIds& ids, std::ostream& out) {
  const std::vector<int64_t> sources = SourcesOf(step);
  const std::vector<int64_t> targets = TargetsOf(step);
  out << HumanCount(static_cast<int64_t>(sources.size())) << " edges between them\n";
  if (sources.empty()) return;
  std::vector<Table::Column> heads = {{"SOURCE"}, {"TARGET"}};
  for (const Rows& rows : step.edge_columns) heads.push_back({rows.spec.name});
  Table table(heads);
  for (size_t edge = 0; edge < sources.size(); ++edge) {
    std::vector<std::string> row = {IdAsText(ids.nodes[sources[edge]]),
                                    IdAsText(ids.targets[targets[edge]])};
    for (const Rows& rows : step.edge_columns) {
      row.push_back(RowAsText(rows.spec, RowAt(rows, static_cast<int64_t>(edge))));
    }
    table.AddRow(row);
  }
  table.Print(out);
}

// One node a line, with the node whose list it is in.
void PrintNodes(const StepAnswer& step, const std::vector<Json>& ids, const std::vector<Json>* of,
                std::ostream& out) {
  std::vector<ShownColumn> columns = ColumnsOf(step);
  if (step.kind == StepKind::kInduced) columns.resize(step.columns.size());
  std::vector<Table::Column> heads = {{"OF"}, {"NODE"}};
  if (!step.counts.empty()) heads.push_back({"VISITS", Table::Align::kRight});
  if (!step.scores.empty()) heads.push_back({"SCORE", Table::Align::kRight});
  for (const ShownColumn& column : columns) heads.push_back({column.name});
  Table table(heads);
  for (size_t list = 0; list + 1 < step.offsets.size(); ++list) {
    for (int64_t at = step.offsets[list]; at < step.offsets[list + 1]; ++at) {
      std::vector<std::string> row = {of == nullptr ? "" : IdAsText((*of)[list]),
                                      IdAsText(ids[at])};
      if (!step.counts.empty()) row.push_back(absl::StrCat(step.counts[at]));
      if (!step.scores.empty()) row.push_back(absl::StrFormat("%.6f", step.scores[at]));
      for (const ShownColumn& column : columns) {
        row.push_back(RowAsText(column.rows->spec, RowAt(*column.rows, at)));
      }
      table.AddRow(row);
    }
  }
  table.Print(out);
}

void PrintAsTables(const Graph& graph, const Query& query, const QueryAnswer& answer,
                   const std::vector<StepIds>& ids, std::ostream& out) {
  for (size_t i = 0; i < answer.steps.size(); ++i) {
    const StepAnswer& step = answer.steps[i];
    const std::vector<Json>* of = nullptr;
    for (size_t k = 0; k < i; ++k) {
      const bool lists = query.steps[i].kind != StepKind::kLayer;
      if (lists && query.steps[k].name == query.steps[i].from) of = &ids[k].nodes;
    }
    if (i > 0) out << '\n';
    out << step.name << ": " << HumanCount(static_cast<int64_t>(step.nodes.size())) << " of type "
        << graph.schema().node_types[step.node_type].name << '\n';
    if (!step.nodes.empty()) PrintNodes(step, ids[i].nodes, of, out);
    if (step.kind == StepKind::kInduced) PrintEdges(step, ids[i], out);
  }
}

absl::Status RunQuery(const Flags& flags, std::ostream& out) {
  VICINITY_ASSIGN_OR_RETURN(const Query query, ReadQuery(flags.query, "--file"));
  VICINITY_ASSIGN_OR_RETURN(const TypedInputs typed, SplitInputs(flags.inputs));
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Graph> graph, OpenGraph(flags.graph));
  const Result<std::unique_ptr<PreparedQuery>> prepared = PreparedQuery::Make(graph.get(), query);
  if (!prepared.ok()) return ToStatus(prepared.error());
  if (flags.explain) {
    InputSizes sizes;
    for (const auto& [name, ids] : typed) sizes[name] = static_cast<int64_t>(ids.size());
    const Result<std::vector<StepCost>> costs = (*prepared)->Explain(sizes);
    if (!costs.ok()) return ToStatus(costs.error());
    PrintCosts(*costs, flags.graph.format, out);
    return absl::OkStatus();
  }
  VICINITY_ASSIGN_OR_RETURN(const QueryInputs inputs, Resolve(*graph, **prepared, typed));
  const Result<QueryAnswer> answer = (*prepared)->Run(inputs, flags.draw);
  if (!answer.ok()) return ToStatus(answer.error());
  VICINITY_ASSIGN_OR_RETURN(const auto ids, UserIdsOfSteps(*graph, query, *answer));
  if (flags.graph.format == OutputFormat::kJson) {
    return PrintAsJson(*graph, flags, *answer, ids, out);
  }
  PrintAsTables(*graph, query, *answer, ids, out);
  return absl::OkStatus();
}

}  // namespace

Action DeclareQuery(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  AddGraphFlags(app, &flags->graph);
  app->add_option("query", flags->query.text,
                  "steps, one a line or with ; between them: NAME = nodes(...), neighbors(...), "
                  "negatives(...), layer(...), walk(...), visited(...), "
                  "ppr(...), induced(...)");
  app->add_option("--file", flags->query.file, "a file with the query")->type_name("FILE");
  app->add_option("--input", flags->inputs,
                  "ids, as the user gave them, of an input that the query calls $NAME; may be "
                  "repeated")
      ->type_name("NAME=ID,ID,...")
      ->allow_extra_args(false);
  app->add_flag("--explain", flags->explain,
                "draw nothing, but tell what calls, nodes and bytes are expected of each step");
  app->add_option("--seed", flags->draw.run_seed, "of the run: which draws")->capture_default_str();
  app->add_option("--epoch", flags->draw.epoch, "likewise")->capture_default_str();
  app->add_option("--batch", flags->draw.batch, "likewise")->capture_default_str();
  return [flags](const ToolContext&, std::ostream& out) { return RunQuery(*flags, out); };
}

}  // namespace vicinity::cli
