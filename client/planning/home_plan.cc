#include "client/planning/home_plan.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "client/planning/edges_to_draw.h"
#include "client/planning/link_plan.h"
#include "client/planning/seed_times.h"
#include "client/query/query_text.h"
#include "partition/cut/node_facts.h"
#include "partition/dataset/whole_read.h"
#include "proto/common/status.h"
#include "sampler/rules/draw_spec.h"

namespace vicinity {
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
absl::Status PlanNodes(const Dataset& dataset, const Assignment& assignment,
                       const VipRequest& request, HomePlan* plan) {
  VICINITY_ASSIGN_OR_RETURN(const Split split, ParseSeeds(request.seeds));
  VICINITY_ASSIGN_OR_RETURN(const NodeTypeId type, FindSeedType(dataset, request));
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
  return absl::FailedPreconditionError(
      absl::StrCat("no seeds: no ", request.seeds, " nodes of type ",
                   dataset.schema().node_types[type.value].name, " in the homes' shards"));
}

// The links to nodes in the homes' shards.
absl::Status PlanLinks(const Dataset& dataset, const Assignment& assignment,
                       const VipRequest& request, HomePlan* plan) {
  const Schema& schema = dataset.schema();
  const EdgeTypeId type{schema.FindEdgeType(request.seed_links)};
  if (type.value < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("links '", request.seed_links, "' are no edge type of the dataset"));
  }
  const NodeTypeId target_type{schema.edge_types[type.value].target_type};
  NodeTypeId negative_type = target_type;
  if (!request.negative_type.empty()) negative_type = {schema.FindNodeType(request.negative_type)};
  if (negative_type.value < 0 || request.negatives_per_link < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        request.negatives_per_link, " negatives of type '", request.negative_type, "'"));
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
    links.negatives_per_link = request.negatives_per_link;
    links.negative_type = negative_type;
    num_links += links.num_links;
  }
  plan->seeds.resize(plan->homes.size());
  if (num_links > 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "no links of type ", schema.EdgeTypeName(type.value), " lead to the homes' shards"));
}

// What the request says of draws, checked.
absl::StatusOr<SamplingSpec> SpecOf(const Schema& schema, const VipRequest& request) {
  SamplingSpec spec = SamplingSpec::Uniform(schema, request.fanouts);
  spec.replace = request.replace;
  spec.expansion = request.expansion;
  spec.weighted_by = request.weighted_by;
  spec.where = request.where;
  spec.disjoint = request.disjoint;
  spec.time_column = request.time_column;
  spec.temporal_strategy = request.temporal_strategy;
  spec.time_window = request.time_window;
  spec.time_follows = request.time_follows;
  spec.draws = request.draws;
  spec.layer_dependency = request.layer_dependency;
  spec.batch_dependency = request.batch_dependency;
  spec.subgraph = request.subgraph;
  const std::string problem = SpecProblem(schema, spec);
  if (!problem.empty()) return absl::InvalidArgumentError(problem);
  if (!request.seed_time_column.empty() && request.time_column.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("seeds have times, in column ",
                                                   request.seed_time_column,
                                                   ", and no time_column says what of"));
  }
  return spec;
}

const std::string& SeedTimeColumn(const VipRequest& request) {
  return request.seed_time_column.empty() ? request.time_column : request.seed_time_column;
}

// The first and the last of some times.
class TimeRange {
 public:
  void Add(int64_t time) {
    first_ = std::min(first_, time);
    last_ = std::max(last_, time);
  }

  // Of the edges of seeds of these times; `window` as SamplingSpec::time_window.
  TimeBounds EdgesOf(int64_t window) const {
    TimeBounds bounds;
    bounds.until = last_;
    if (window >= 0 && first_ >= bounds.from + window) bounds.from = first_ - window;
    return bounds;
  }

 private:
  int64_t first_ = std::numeric_limits<int64_t>::max();
  int64_t last_ = std::numeric_limits<int64_t>::min();
};

// The times of the seeds, and within what those of their edges are.
absl::StatusOr<TimeBounds> PlanTimes(const Dataset& dataset, const VipRequest& request,
                                     HomePlan* plan) {
  TimeRange seeds;
  if (!plan->links.empty()) {
    plan->link_times = SeedTimeColumn(request);
    std::vector<int32_t> all_shards(dataset.book().num_shards());
    std::iota(all_shards.begin(), all_shards.end(), 0);
    VICINITY_ASSIGN_OR_RETURN(
        const std::vector<int64_t> times,
        TimesOfLinks(dataset, plan->link_edges.type, plan->link_times, all_shards));
    for (const int64_t time : times) seeds.Add(time);
    return seeds.EdgesOf(request.time_window);
  }
  VICINITY_ASSIGN_OR_RETURN(
      plan->node_times, TimesOfNodes(dataset, plan->seeds.front().type, SeedTimeColumn(request)));
  for (const HomeSeeds& home : plan->seeds) {
    for (const int64_t node : home.nodes) seeds.Add(plan->node_times[node]);
  }
  return seeds.EdgesOf(request.time_window);
}

}  // namespace

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

absl::StatusOr<NodeTypeId> FindSeedType(const Dataset& dataset, const VipRequest& request) {
  VICINITY_ASSIGN_OR_RETURN(const Split split, ParseSeeds(request.seeds));
  const std::vector<NodeTypeSpec>& types = dataset.schema().node_types;
  std::vector<int32_t> candidates;
  std::string names;
  for (int32_t t = 0; t < static_cast<int32_t>(types.size()); ++t) {
    if (!request.seed_type.empty() && types[t].name != request.seed_type) continue;
    if (split != Split::kNone && types[t].split_column.empty()) continue;
    candidates.push_back(t);
    absl::StrAppend(&names, names.empty() ? "" : ", ", types[t].name);
  }
  if (candidates.size() == 1) return NodeTypeId{candidates[0]};
  if (candidates.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("more than one node type can have seeds (", names, "): name it"));
  }
  if (!request.seed_type.empty() && dataset.schema().FindNodeType(request.seed_type) < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("seed type '", request.seed_type, "' is no node type of the dataset"));
  }
  return absl::FailedPreconditionError("the dataset has no splits to take seeds from");
}

namespace {

// Of a query the seeds are of its input's type.
absl::StatusOr<VipRequest> TakeQuery(const Dataset& dataset, VipRequest request, HomePlan* plan) {
  if (!request.query.has_value()) return request;
  if (!request.seed_links.empty()) {
    return absl::InvalidArgumentError("a query's batches are of nodes, not of links");
  }
  VICINITY_ASSIGN_OR_RETURN(plan->query, QueryBatches::Create(dataset, *request.query));
  const std::string& type = dataset.schema().node_types[plan->query->seed_type().value].name;
  if (!request.seed_type.empty() && request.seed_type != type) {
    return absl::InvalidArgumentError(absl::StrCat("seed type '", request.seed_type,
                                                   "', but the query's $", plan->query->input(),
                                                   " takes nodes of type ", type));
  }
  request.seed_type = type;
  return request;
}

}  // namespace

absl::StatusOr<HomePlan> PlanHomes(const Dataset& dataset, const Assignment& assignment,
                                   const VipRequest& asked) {
  HomePlan plan;
  VICINITY_ASSIGN_OR_RETURN(const VipRequest request, TakeQuery(dataset, asked, &plan));
  plan.options.batch_size = request.batch_size;
  if (request.batch_size < 1) {
    return absl::InvalidArgumentError(absl::StrCat("batch size ", request.batch_size));
  }
  if (plan.query != nullptr) {
    plan.options.sampling = plan.query->MinibatchesLike(request.batch_size);
  } else {
    VICINITY_ASSIGN_OR_RETURN(plan.options.sampling, SpecOf(dataset.schema(), request));
  }
  VICINITY_ASSIGN_OR_RETURN(plan.homes, ParseHomes(request.homes, assignment.num_shards));
  VICINITY_ASSIGN_OR_RETURN(plan.home_of, HomeOfShards(plan.homes, assignment.num_shards));

  VICINITY_RETURN_IF_ERROR(request.seed_links.empty()
                               ? PlanNodes(dataset, assignment, request, &plan)
                               : PlanLinks(dataset, assignment, request, &plan));
  TimeBounds within;
  if (!request.time_column.empty()) {
    VICINITY_ASSIGN_OR_RETURN(within, PlanTimes(dataset, request, &plan));
  }
  VICINITY_ASSIGN_OR_RETURN(plan.options.filter,
                            EdgesToDraw(dataset, plan.options.sampling, within));
  return plan;
}

namespace {

// The ends of several homes' links, of one type.
LinkSeeds::Ends JoinEnds(const std::vector<LinkSeeds>& homes, size_t which) {
  std::map<int64_t, int64_t> counts;
  for (const LinkSeeds& links : homes) {
    const LinkSeeds::Ends& ends = links.ends[which];
    for (size_t i = 0; i < ends.nodes.size(); ++i) counts[ends.nodes[i]] += ends.counts[i];
  }
  LinkSeeds::Ends joined{homes.front().ends[which].type, {}, {}};
  for (const auto& [node, count] : counts) {
    joined.nodes.push_back(node);
    joined.counts.push_back(count);
  }
  return joined;
}

void DealLinksFromAll(HomePlan* plan) {
  LinkSeeds all = plan->links.front();  // with its negatives
  all.num_links = 0;
  for (const LinkSeeds& links : plan->links) all.num_links += links.num_links;
  for (size_t which = 0; which < all.ends.size(); ++which) {
    all.ends[which] = JoinEnds(plan->links, which);
  }
  plan->links.assign(plan->homes.size(), all);
}

}  // namespace

void DealFromAll(HomePlan* plan) {
  plan->seeds_from_all = true;
  if (!plan->links.empty()) return DealLinksFromAll(plan);
  HomeSeeds all{plan->seeds.front().type, {}};
  for (const HomeSeeds& seeds : plan->seeds) {
    all.nodes.insert(all.nodes.end(), seeds.nodes.begin(), seeds.nodes.end());
  }
  std::sort(all.nodes.begin(), all.nodes.end());
  plan->seeds.assign(plan->homes.size(), all);
}

namespace {

// Of one home that has the seeds of all.
absl::StatusOr<VipScores> ScoresOfOne(const Dataset& dataset, const HomePlan& plan,
                                      Progress* progress) {
  if (plan.links.empty()) {
    return ComputeVip(dataset, {plan.seeds.front()}, plan.options, progress);
  }
  LinkEdges edges = plan.link_edges;
  for (int32_t& home : edges.home_of) home = std::min(home, 0);
  return ComputeLinkVip(dataset, {plan.links.front()}, edges, plan.options, progress);
}

// Of homes whose seeds are the same: one of them is worked out.
absl::StatusOr<VipScores> ScoresOfAll(const Dataset& dataset, const HomePlan& plan,
                                      Progress* progress) {
  VICINITY_ASSIGN_OR_RETURN(const VipScores one, ScoresOfOne(dataset, plan, progress));
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

namespace {

// "train"; "links"; "train as $seeds of: src = nodes(paper, $seeds); w = walk(src, cites, 8)".
std::string SeedsText(const VipRequest& request, const HomePlan& plan) {
  if (!request.seed_links.empty()) return "links";
  if (plan.query == nullptr) return request.seeds;
  std::string text = QueryText(*request.query);
  absl::StripTrailingAsciiWhitespace(&text);
  return absl::StrCat(request.seeds, " as $", plan.query->input(),
                      " of: ", absl::StrReplaceAll(text, {{"\n", "; "}}));
}

}  // namespace

proto::Ranking DescribeRanking(const std::string& name, const VipRequest& request,
                               const HomePlan& plan) {
  proto::Ranking ranking;
  ranking.set_name(name);
  ranking.set_seeds(SeedsText(request, plan));
  ranking.set_seed_links(request.seed_links);
  ranking.set_negatives_per_link(request.negatives_per_link);
  ranking.set_negative_type(request.negative_type);
  ranking.set_batch_size(request.batch_size);
  for (const std::vector<int32_t>& home : plan.homes) {
    proto::Ranking::Home* const shards = ranking.add_homes();
    for (const int32_t shard : home) shards->add_shards(shard);
  }
  if (plan.query != nullptr) return ranking;  // draws are what the query says
  for (const int64_t fanout : request.fanouts) ranking.add_fanouts(fanout);
  ranking.set_replace(request.replace);
  ranking.set_weighted_by(request.weighted_by);
  ranking.set_new_nodes_only(request.expansion == Expansion::kNewNodes);
  ranking.set_where(request.where);
  ranking.set_disjoint(request.disjoint);
  ranking.set_time_column(request.time_column);
  ranking.set_seed_time_column(SeedTimeColumn(request));
  if (!request.time_column.empty()) ranking.set_time_window(request.time_window);
  ranking.set_time_follows_path(request.time_follows == TimeFollows::kPath);
  ranking.set_latest_edges(request.temporal_strategy == TemporalStrategy::kLast);
  ranking.set_labor(request.draws == Draws::kLabor);
  ranking.set_layer_dependency(request.layer_dependency);
  if (ranking.labor()) ranking.set_batch_dependency(request.batch_dependency);
  return ranking;
}

}  // namespace vicinity
