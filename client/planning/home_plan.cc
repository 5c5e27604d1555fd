#include "client/planning/home_plan.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/cli/output/choices.h"
#include "client/planning/link_plan.h"
#include "partition/cut/node_facts.h"
#include "partition/dataset/whole_read.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

// kNone stands for all nodes, as in NodesInSplit.
absl::StatusOr<Split> ParseSeeds(const std::string& seeds) {
  if (seeds == "train") return Split::kTrain;
  if (seeds == "validation") return Split::kValidation;
  if (seeds == "test") return Split::kTest;
  if (seeds == "all") return Split::kNone;
  return absl::InvalidArgumentError(
      absl::StrCat("seeds '", seeds, "'; there are train, validation, test and all"));
}

// Which home each shard belongs to. InvalidArgument if one belongs to two.
absl::StatusOr<std::vector<int32_t>> HomeOfShards(const std::vector<std::vector<int32_t>>& homes,
                                                  int32_t num_shards) {
  std::vector<int32_t> home_of(num_shards, -1);
  for (size_t home = 0; home < homes.size(); ++home) {
    for (const int32_t shard : homes[home]) {
      if (home_of[shard] >= 0) {
        return absl::InvalidArgumentError(absl::StrCat("homes: shard ", shard, " is there twice"));
      }
      home_of[shard] = static_cast<int32_t>(home);
    }
  }
  return home_of;
}

// The nodes that are seeds, in the homes' shards.
absl::Status PlanNodes(const Dataset& dataset, const Assignment& assignment, const VipFlags& flags,
                       HomePlan* plan) {
  VICINITY_ASSIGN_OR_RETURN(const Split split, ParseSeeds(flags.seeds));
  VICINITY_ASSIGN_OR_RETURN(const NodeTypeId type, FindSeedType(dataset, flags));
  plan->seeds.assign(plan->homes.size(), HomeSeeds{type, {}});
  std::vector<int64_t> nodes;
  VICINITY_RETURN_IF_ERROR(ReadWhole(SplitFiles(dataset), NoProgress(), [&] {
    nodes = NodesInSplit(dataset, type, split);
    return absl::OkStatus();
  }));
  int64_t num_seeds = 0;
  for (const int64_t node : nodes) {
    const int32_t home = plan->home_of[assignment.shard_of[type.value][node]];
    if (home < 0) continue;
    plan->seeds[home].nodes.push_back(node);
    ++num_seeds;
  }
  if (num_seeds > 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("no seeds: no ", flags.seeds, " nodes of type ",
                                                    dataset.schema().node_types[type.value].name,
                                                    " in the homes' shards"));
}

// The links to nodes in the homes' shards.
absl::Status PlanLinks(const Dataset& dataset, const Assignment& assignment, const VipFlags& flags,
                       HomePlan* plan) {
  const Schema& schema = dataset.schema();
  const EdgeTypeId type{schema.FindEdgeType(flags.seed_links)};
  if (type.value < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("links '", flags.seed_links, "' are no edge type of the dataset"));
  }
  const NodeTypeId target_type{schema.edge_types[type.value].target_type};
  NodeTypeId negative_type = target_type;
  if (!flags.negative_type.empty()) negative_type = {schema.FindNodeType(flags.negative_type)};
  if (negative_type.value < 0 || flags.negatives_per_link < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(flags.negatives_per_link, " negatives of type '", flags.negative_type, "'"));
  }
  plan->link_edges.type = type;
  for (const int32_t shard : assignment.shard_of[target_type.value]) {
    plan->link_edges.home_of.push_back(plan->home_of[shard]);
  }
  VICINITY_RETURN_IF_ERROR(ReadWhole(ListFiles(dataset), NoProgress(), [&] {
    plan->links = LinksOfHomes(dataset, type, plan->link_edges.home_of,
                               static_cast<int32_t>(plan->homes.size()));
    return absl::OkStatus();
  }));
  int64_t num_links = 0;
  for (LinkSeeds& links : plan->links) {
    links.negatives_per_link = flags.negatives_per_link;
    links.negative_type = negative_type;
    num_links += links.num_links;
  }
  plan->seeds.resize(plan->homes.size());
  if (num_links > 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "no links of type ", schema.EdgeTypeName(type.value), " lead to the homes' shards"));
}

}  // namespace

void AddVipFlags(CLI::App* app, VipFlags* flags) {
  app->add_option("--fanouts", flags->fanouts,
                  "neighbours drawn in each hop, the seeds' first; -1: all")
      ->delimiter(',')
      ->allow_extra_args(false)  // or it would take what follows too
      ->type_name("N,N,...")
      ->default_str("15,10,5");
  app->add_option("--batch-size", flags->batch_size, "seeds in a minibatch");
  app->add_flag("--replace", flags->replace, "draw with replacement");
  const std::map<std::string, Expansion> expansions = {{"all", Expansion::kAllNodes},
                                                       {"new", Expansion::kNewNodes}};
  app->add_option("--expansion", flags->expansion,
                  "what a hop expands: all nodes met so far, or only the new ones")
      ->type_name("all|new")
      ->transform(Choices(expansions))
      ->default_str("all");
  app->add_option("--weighted-by", flags->weighted_by,
                  "draw by this weight column where an edge type has it (default: uniformly)")
      ->type_name("COLUMN");
  app->add_option("--seeds", flags->seeds, "train, validation, test or all nodes");
  app->add_option("--seed-type", flags->seed_type, "their node type, if more than one has splits");
  app->add_option("--homes", flags->homes,
                  "shards that each trainer is at home in, as 0,2/1,3 for two trainers on four "
                  "shards; default: one trainer a shard");
}

void AddLinkFlags(CLI::App* app, VipFlags* flags) {
  CLI::Option* const links =
      app->add_option("--seed-links", flags->seed_links,
                      "batches are of links of this edge type: both ends of each are seeds");
  app->add_option("--negatives", flags->negatives_per_link,
                  "nodes drawn at random for every link of a batch, seeds too")
      ->needs(links);
  app->add_option("--negative-type", flags->negative_type,
                  "their node type; default: that of the links' targets")
      ->needs(links);
}

absl::StatusOr<std::vector<std::vector<int32_t>>> ParseHomes(std::string_view text,
                                                             int32_t num_shards) {
  std::vector<std::vector<int32_t>> homes;
  if (text.empty()) {
    for (int32_t shard = 0; shard < num_shards; ++shard) homes.push_back({shard});
    return homes;
  }
  for (const absl::string_view group :
       absl::StrSplit(absl::string_view(text.data(), text.size()), '/')) {
    std::vector<int32_t>& home = homes.emplace_back();
    for (const absl::string_view number : absl::StrSplit(group, ',')) {
      int32_t shard = -1;
      if (!absl::SimpleAtoi(number, &shard) || shard < 0 || shard >= num_shards) {
        return absl::InvalidArgumentError(
            absl::StrCat("homes: '", number, "' is none of the shards 0 to ", num_shards - 1));
      }
      home.push_back(shard);
    }
    std::sort(home.begin(), home.end());
  }
  VICINITY_RETURN_IF_ERROR(HomeOfShards(homes, num_shards).status());
  return homes;
}

absl::StatusOr<NodeTypeId> FindSeedType(const Dataset& dataset, const VipFlags& flags) {
  VICINITY_ASSIGN_OR_RETURN(const Split split, ParseSeeds(flags.seeds));
  const std::vector<NodeTypeSpec>& types = dataset.schema().node_types;
  std::vector<int32_t> candidates;
  std::string names;
  for (int32_t t = 0; t < static_cast<int32_t>(types.size()); ++t) {
    if (!flags.seed_type.empty() && types[t].name != flags.seed_type) continue;
    if (split != Split::kNone && types[t].split_column.empty()) continue;
    candidates.push_back(t);
    absl::StrAppend(&names, names.empty() ? "" : ", ", types[t].name);
  }
  if (candidates.size() == 1) return NodeTypeId{candidates[0]};
  if (candidates.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("more than one node type can have seeds (", names, "): name it"));
  }
  if (!flags.seed_type.empty() && dataset.schema().FindNodeType(flags.seed_type) < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("seed type '", flags.seed_type, "' is no node type of the dataset"));
  }
  return absl::FailedPreconditionError("the dataset has no splits to take seeds from");
}

absl::StatusOr<HomePlan> PlanHomes(const Dataset& dataset, const Assignment& assignment,
                                   const VipFlags& flags) {
  HomePlan plan;
  plan.options.batch_size = flags.batch_size;
  plan.options.sampling = SamplingSpec::Uniform(dataset.schema(), flags.fanouts);
  plan.options.sampling.replace = flags.replace;
  plan.options.sampling.expansion = flags.expansion;
  plan.options.sampling.weighted_by = flags.weighted_by;
  const std::string problem = SpecProblem(dataset.schema(), plan.options.sampling);
  if (!problem.empty()) return absl::InvalidArgumentError(problem);
  if (flags.batch_size < 1) {
    return absl::InvalidArgumentError(absl::StrCat("batch size ", flags.batch_size));
  }
  VICINITY_ASSIGN_OR_RETURN(plan.homes, ParseHomes(flags.homes, assignment.num_shards));
  VICINITY_ASSIGN_OR_RETURN(plan.home_of, HomeOfShards(plan.homes, assignment.num_shards));

  VICINITY_RETURN_IF_ERROR(flags.seed_links.empty() ? PlanNodes(dataset, assignment, flags, &plan)
                                                    : PlanLinks(dataset, assignment, flags, &plan));
  return plan;
}

absl::Status DealFromAll(HomePlan* plan) {
  if (!plan->links.empty()) {
    return absl::InvalidArgumentError(
        "links as seeds are those of a trainer's home: --seed-policy home");
  }
  HomeSeeds all{plan->seeds.front().type, {}};
  for (const HomeSeeds& seeds : plan->seeds) {
    all.nodes.insert(all.nodes.end(), seeds.nodes.begin(), seeds.nodes.end());
  }
  std::sort(all.nodes.begin(), all.nodes.end());
  plan->seeds.assign(plan->homes.size(), all);
  plan->seeds_from_all = true;
  return absl::OkStatus();
}

namespace {

// Of homes whose seeds are the same: one of them is worked out.
absl::StatusOr<VipScores> ScoresOfAll(const Dataset& dataset, const HomePlan& plan,
                                      Progress* progress) {
  VICINITY_ASSIGN_OR_RETURN(const VipScores one,
                            ComputeVip(dataset, {plan.seeds.front()}, plan.options, progress));
  VipScores scores;
  scores.num_homes = static_cast<int32_t>(plan.homes.size());
  for (const std::vector<float>& of_type : one.values) {
    std::vector<float>& values = scores.values.emplace_back();
    values.reserve(of_type.size() * plan.homes.size());
    for (const float score : of_type) values.insert(values.end(), plan.homes.size(), score);
  }
  return scores;
}

}  // namespace

absl::StatusOr<VipScores> ScoresOf(const Dataset& dataset, const HomePlan& plan,
                                   Progress* progress) {
  if (plan.seeds_from_all) return ScoresOfAll(dataset, plan, progress);
  if (plan.links.empty()) return ComputeVip(dataset, plan.seeds, plan.options, progress);
  return ComputeLinkVip(dataset, plan.links, plan.link_edges, plan.options, progress);
}

Assignment AssignmentOf(const Book& book) {
  Assignment assignment;
  assignment.num_shards = book.num_shards();
  for (int32_t t = 0; t < book.num_node_types(); ++t) {
    std::vector<int32_t>& shard_of = assignment.shard_of.emplace_back();
    shard_of.reserve(book.num_nodes(NodeTypeId{t}));
    for (int32_t shard = 0; shard < book.num_shards(); ++shard) {
      shard_of.insert(shard_of.end(), book.num_nodes(NodeTypeId{t}, ShardId{shard}), shard);
    }
  }
  return assignment;
}

proto::Ranking DescribeRanking(const std::string& name, const VipFlags& flags,
                               const HomePlan& plan) {
  proto::Ranking ranking;
  ranking.set_name(name);
  ranking.set_seeds(flags.seed_links.empty() ? flags.seeds : "links");
  ranking.set_seed_links(flags.seed_links);
  ranking.set_negatives_per_link(flags.negatives_per_link);
  ranking.set_negative_type(flags.negative_type);
  ranking.set_batch_size(flags.batch_size);
  for (const int64_t fanout : flags.fanouts) ranking.add_fanouts(fanout);
  ranking.set_replace(flags.replace);
  ranking.set_weighted_by(flags.weighted_by);
  ranking.set_new_nodes_only(flags.expansion == Expansion::kNewNodes);
  for (const std::vector<int32_t>& home : plan.homes) {
    proto::Ranking::Home* const shards = ranking.add_homes();
    for (const int32_t shard : home) shards->add_shards(shard);
  }
  return ranking;
}

namespace {

// "train"; "links node:link:node with 2 negatives each".
std::string SeedsText(const proto::Ranking& ranking) {
  if (ranking.seed_links().empty()) return ranking.seeds();
  return absl::StrCat(
      "links ", ranking.seed_links(),
      ranking.negatives_per_link() == 0
          ? ""
          : absl::StrCat(" with ", ranking.negatives_per_link(), " negatives each"));
}

}  // namespace

std::string RankingText(const proto::Ranking& ranking) {
  return absl::StrCat(
      "Ranking \"", ranking.name(), "\": seeds ", SeedsText(ranking), ", batch ",
      ranking.batch_size(), ", fanouts ", absl::StrJoin(ranking.fanouts(), ","),
      ranking.replace() ? ", with replacement" : "",
      ranking.weighted_by().empty() ? "" : absl::StrCat(", weighted by ", ranking.weighted_by()),
      ranking.new_nodes_only() ? ", new nodes only" : "", ", ", ranking.homes_size(),
      ranking.homes_size() == 1 ? " home" : " homes",
      ranking.sampled_batches() > 0
          ? absl::StrCat(", corrected by ", ranking.sampled_batches(), " sampled batches")
          : ", by the VIP formula alone");
}

nlohmann::ordered_json RankingJson(const proto::Ranking& ranking) {
  nlohmann::ordered_json json;
  json["name"] = ranking.name();
  json["seeds"] = ranking.seeds();
  if (!ranking.seed_links().empty()) {
    json["seed_links"] = ranking.seed_links();
    json["negatives_per_link"] = ranking.negatives_per_link();
    json["negative_type"] = ranking.negative_type();
  }
  json["batch_size"] = ranking.batch_size();
  json["fanouts"] = std::vector<int64_t>(ranking.fanouts().begin(), ranking.fanouts().end());
  json["replace"] = ranking.replace();
  if (!ranking.weighted_by().empty()) json["weighted_by"] = ranking.weighted_by();
  json["new_nodes_only"] = ranking.new_nodes_only();
  json["sampled_batches"] = ranking.sampled_batches();
  json["homes"] = nlohmann::ordered_json::array();
  for (const proto::Ranking::Home& home : ranking.homes()) {
    json["homes"].push_back(std::vector<int32_t>(home.shards().begin(), home.shards().end()));
  }
  return json;
}

}  // namespace vicinity::cli
