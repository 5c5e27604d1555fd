#include "client/cli/commands/graph/sample_command.h"

#include <CLI/CLI.hpp>
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
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/flags/graph_flags.h"
#include "client/cli/output/output.h"
#include "client/graph.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "proto/command_line/choices.h"
#include "proto/common/human_text.h"
#include "proto/common/status.h"
#include "sampler/sampled_graph.h"

namespace vicinity::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Flags {
  GraphFlags graph;
  std::string type;
  std::vector<std::string> seeds;
  std::vector<int64_t> fanouts;
  std::vector<std::string> fanouts_along;  // "buys=5,3"
  DrawId draw;
  Expansion expansion = Expansion::kAllNodes;
  bool replace = false;
  std::string weighted_by;
  std::string where;
  bool disjoint = false;
  Draws draws = Draws::kIndependent;
  bool layer_dependency = false;
  int64_t batch_dependency = 1;
};

// A minibatch with the user's ids of its nodes, by node type.
struct Sample {
  SampledGraph graph;
  std::vector<std::vector<Json>> ids;
};

// Sets the fanouts of the edge type that `text`, as "buys=5,3", names.
absl::Status SetFanoutsAlong(const Schema& schema, const std::string& text, SamplingSpec* spec) {
  const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits('=', 1));
  const int type = schema.FindEdgeType(parts.first);
  if (type < 0) {
    return absl::NotFoundError(absl::StrCat("--fanouts-along ", text, ": no edge type ",
                                            parts.first, " (or several relations of this name)"));
  }
  const std::vector<std::string> fanouts = absl::StrSplit(parts.second, ',');
  if (fanouts.size() != spec->fanouts.size()) {
    return absl::InvalidArgumentError(absl::StrCat("--fanouts-along ", text, ": ", fanouts.size(),
                                                   " hops, --fanouts has ", spec->fanouts.size()));
  }
  for (size_t hop = 0; hop < fanouts.size(); ++hop) {
    if (absl::SimpleAtoi(fanouts[hop], &spec->fanouts[hop][type])) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--fanouts-along ", text, ": \"", fanouts[hop], "\" is no number"));
  }
  return absl::OkStatus();
}

absl::StatusOr<SamplingSpec> SpecOf(const Schema& schema, const Flags& flags) {
  SamplingSpec spec = SamplingSpec::Uniform(schema, flags.fanouts);
  for (const std::string& along : flags.fanouts_along) {
    VICINITY_RETURN_IF_ERROR(SetFanoutsAlong(schema, along, &spec));
  }
  spec.replace = flags.replace;
  spec.expansion = flags.expansion;
  spec.weighted_by = flags.weighted_by;
  spec.where = flags.where;
  spec.disjoint = flags.disjoint;
  spec.draws = flags.draws;
  spec.layer_dependency = flags.layer_dependency;
  spec.batch_dependency = flags.batch_dependency;
  return spec;
}

absl::StatusOr<Sample> Draw(const Graph& graph, const Flags& flags) {
  VICINITY_ASSIGN_OR_RETURN(const int32_t type, FindNodeTypeFlag(graph.schema(), flags.type));
  VICINITY_ASSIGN_OR_RETURN(const std::vector<int64_t> seeds,
                            ResolveTyped(graph, type, flags.seeds));
  VICINITY_ASSIGN_OR_RETURN(const SamplingSpec spec, SpecOf(graph.schema(), flags));
  Result<SampledGraph> sampled = graph.Sample(type, seeds, spec, flags.draw);
  if (!sampled.ok()) return ToStatus(sampled.error());
  Sample sample;
  sample.graph = *std::move(sampled);
  for (size_t t = 0; t < sample.graph.nodes.size(); ++t) {
    VICINITY_ASSIGN_OR_RETURN(std::vector<Json> ids,
                              UserIdsOf(graph, static_cast<int32_t>(t), sample.graph.nodes[t].ids));
    sample.ids.push_back(std::move(ids));
  }
  return sample;
}

// Calls `visit` for each target of a block with its id and those of its drawn neighbours.
template <typename Visit>
void ForEachTarget(const Schema& schema, const Sample& sample, const Block& block, Visit visit) {
  const EdgeTypeSpec& spec = schema.edge_types[block.edge_type];
  for (int64_t i = 0; i < block.num_targets(); ++i) {
    std::vector<Json> sources;
    for (int64_t k = block.offsets[i]; k < block.offsets[i + 1]; ++k) {
      sources.push_back(sample.ids[spec.source_type][block.sources[k]]);
    }
    visit(sample.ids[spec.target_type][block.first_target + i], sources);
  }
}

void PrintAsJson(const Schema& schema, const Sample& sample, const Flags& flags,
                 std::ostream& out) {
  Json seeds = Json::array();
  const SampledSeeds& sampled = sample.graph.seeds.front();
  for (const int32_t position : sampled.positions) {
    seeds.push_back(sample.ids[sampled.node_type][position]);
  }
  Json hops = Json::array();
  for (const std::vector<Block>& hop : sample.graph.hops) {
    Json blocks = Json::array();
    for (const Block& block : hop) {
      Json targets = Json::array();
      Json sources = Json::array();
      ForEachTarget(schema, sample, block, [&](const Json& target, const std::vector<Json>& drawn) {
        targets.push_back(target);
        sources.push_back(drawn);
      });
      blocks.push_back({{"edge_type", schema.EdgeTypeName(block.edge_type)},
                        {"targets", targets},
                        {"sources", sources}});
    }
    hops.push_back(blocks);
  }
  Json nodes = Json::object();
  for (size_t t = 0; t < sample.ids.size(); ++t) nodes[schema.node_types[t].name] = sample.ids[t];
  Json trees = Json::object();  // of each node its seed's position, where trees are disjoint
  for (size_t t = 0; flags.disjoint && t < sample.ids.size(); ++t) {
    trees[schema.node_types[t].name] = sample.graph.nodes[t].trees;
  }
  PrintJson(
      {{"seed_type", schema.node_types[sampled.node_type].name},
       {"seeds", seeds},
       {"draw",
        {{"seed", flags.draw.run_seed}, {"epoch", flags.draw.epoch}, {"batch", flags.draw.batch}}},
       {"hops", hops},
       {"nodes", nodes},
       {"trees", trees},
       {"num_edges", sample.graph.num_edges()}},
      out);
}

// "1,234 nodes (paper 1,000, author 234)"
std::string NodesAsText(const Schema& schema, const Sample& sample) {
  int64_t all = 0;
  std::string by_type;
  for (size_t t = 0; t < sample.ids.size(); ++t) {
    const auto count = static_cast<int64_t>(sample.ids[t].size());
    all += count;
    absl::StrAppend(&by_type, t == 0 ? "" : ", ", schema.node_types[t].name, " ",
                    HumanCount(count));
  }
  return absl::StrCat(HumanCount(all), " nodes (", by_type, ")");
}

void PrintAsTable(const Schema& schema, const Sample& sample, std::ostream& out) {
  Table table({{"HOP", Table::Align::kRight}, {"EDGE TYPE"}, {"TARGET"}, {"SOURCES"}});
  for (size_t h = 0; h < sample.graph.hops.size(); ++h) {
    for (const Block& block : sample.graph.hops[h]) {
      ForEachTarget(schema, sample, block, [&](const Json& target, const std::vector<Json>& drawn) {
        if (drawn.empty()) return;
        std::string sources;
        for (const Json& source : drawn) {
          absl::StrAppend(&sources, sources.empty() ? "" : " ", IdAsText(source));
        }
        table.AddRow(
            {absl::StrCat(h), schema.EdgeTypeName(block.edge_type), IdAsText(target), sources});
      });
    }
  }
  table.Print(out);
  out << '\n'
      << HumanCount(sample.graph.num_seeds()) << " seeds, " << sample.graph.hops.size() << " hops, "
      << NodesAsText(schema, sample) << ", " << HumanCount(sample.graph.num_edges()) << " edges\n";
}

absl::Status RunSample(const Flags& flags, std::ostream& out) {
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Graph> graph, OpenGraph(flags.graph));
  VICINITY_ASSIGN_OR_RETURN(const Sample sample, Draw(*graph, flags));
  if (flags.graph.format == OutputFormat::kJson) {
    PrintAsJson(graph->schema(), sample, flags, out);
  } else {
    PrintAsTable(graph->schema(), sample, out);
  }
  return absl::OkStatus();
}

}  // namespace

Action DeclareSample(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  AddGraphFlags(app, &flags->graph);
  app->add_option("--type", flags->type, "the seeds' node type, if there are several");
  app->add_option("--seeds", flags->seeds, "ids of the seeds, as the user gave them")
      ->delimiter(',')
      ->type_name("ID,ID,...")
      ->required();
  app->add_option("--fanouts", flags->fanouts,
                  "neighbours drawn in each hop, the seeds' first; -1: all")
      ->delimiter(',')
      ->type_name("N,N,...")
      ->required();
  app->add_option(
         "--fanouts-along", flags->fanouts_along,
         "other fanouts along one edge type, as buys=5,3; 0: not followed; may be repeated")
      ->type_name("TYPE=N,N,...")
      ->allow_extra_args(false);
  app->add_option("--seed", flags->draw.run_seed, "of the run: which draws")->capture_default_str();
  app->add_option("--epoch", flags->draw.epoch, "likewise")->capture_default_str();
  app->add_option("--batch", flags->draw.batch, "likewise")->capture_default_str();
  const std::map<std::string, Expansion> expansions = {{"all", Expansion::kAllNodes},
                                                       {"new", Expansion::kNewNodes}};
  app->add_option("--expansion", flags->expansion,
                  "what a hop expands: all nodes met so far, or only the new ones")
      ->type_name("all|new")
      ->transform(Choices(expansions))
      ->default_str("all");
  app->add_flag("--replace", flags->replace, "draw with replacement");
  app->add_option("--weighted-by", flags->weighted_by,
                  "draw by this weight column where an edge type has it (default: uniformly)")
      ->type_name("COLUMN");
  app->add_option("--where", flags->where,
                  "draw among edges that meet this condition on their columns, where an edge type "
                  "has these: \"year >= 2010 and not kind in (3, 4)\" (default: all edges)")
      ->type_name("CONDITION");
  app->add_flag("--disjoint", flags->disjoint, "a tree of its own for each seed");
  const std::map<std::string, Draws> draws = {{"independent", Draws::kIndependent},
                                              {"labor", Draws::kLabor}};
  app->add_option(
         "--draws", flags->draws,
         "each target draws for itself, or all of a hop choose the same sources where they "
         "can, so that there are fewer nodes")
      ->type_name("independent|labor")
      ->transform(Choices(draws))
      ->default_str("independent");
  app->add_flag("--layer-dependency", flags->layer_dependency,
                "with --draws labor: all hops choose alike");
  app->add_option("--batch-dependency", flags->batch_dependency,
                  "with --draws labor: so many batches in a row choose alike")
      ->capture_default_str();
  return [flags](const ToolContext&, std::ostream& out) { return RunSample(*flags, out); };
}

}  // namespace vicinity::cli
