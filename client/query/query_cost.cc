#include "client/query/query_cost.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "partition/schema/condition.h"
#include "partition/schema/schema.h"
#include "proto/common/status.h"
#include "sampler/proximity/ppr_spec.h"
#include "sampler/walk_spec.h"

namespace vicinity {
namespace {

constexpr int64_t kMostLooked = 1024;
constexpr double kIdBytes = sizeof(int64_t);
constexpr int64_t kInducedAtATime = int64_t{1} << 20;  // InducedRequest::edges_at_a_time

// In-degrees of some nodes, by edge type.
class Degrees {
 public:
  explicit Degrees(const ShardRouter& router) : router_(router) {}

  absl::Status Look(EdgeTypeId type, const CallContext& context) {
    if (by_type_.count(type.value) > 0) return absl::OkStatus();
    const NodeTypeId targets{router_.schema().edge_types[type.value].target_type};
    const int64_t all = router_.book().num_nodes(targets);
    const int64_t looked = std::min(all, kMostLooked);
    std::vector<int64_t> nodes;
    for (int64_t i = 0; i < looked; ++i) nodes.push_back(i * all / looked);
    std::vector<int64_t>& degrees = by_type_[type.value];
    degrees.resize(nodes.size());
    return router_.FetchDegrees({DegreesFetch{type, nodes, degrees.data()}}, context);
  }

  // Edges of a list, of which at most so many count (kAllNeighbors: all).
  double MeanOf(EdgeTypeId type, int64_t most) const {
    const std::vector<int64_t>& degrees = by_type_.at(type.value);
    double sum = 0;
    for (const int64_t degree : degrees) {
      sum += static_cast<double>(most < 0 ? degree : std::min(degree, most));
    }
    return degrees.empty() ? 0 : sum / static_cast<double>(degrees.size());
  }

 private:
  const ShardRouter& router_;
  std::map<int32_t, std::vector<int64_t>> by_type_;
};

// What the parts of one step add up to.
class StepTally {
 public:
  StepTally(const ShardRouter& router, const ResolvedStep& step, double lists)
      : router_(router), step_(step) {
    cost_.name = step.step.name;
    cost_.lists = lists;
  }

  // Of kNodes, whose pool is made when the query is.
  StepCost OfNodes(const KnownStep& known) {
    cost_.nodes = static_cast<double>(known.num_nodes);
    Does(step_.step.input.empty() ? "the graph's nodes" : absl::StrCat("$", step_.step.input));
    if (step_.nodes_where != nullptr && !step_.step.input.empty()) {
      ReadCondition(cost_.nodes);
    } else if (step_.nodes_where != nullptr && step_.step.ids.empty()) {
      Does(absl::StrCat("servers tell those that meet the condition, once for all runs, ",
                        HowFound(known.num_read)));
    }
    return Finish();
  }

  StepCost OfNeighbors(const Degrees& degrees) {
    const bool drawn = step_.step.count != kAllNeighbors;
    cost_.nodes = cost_.lists * degrees.MeanOf(step_.edge_type, step_.step.count);
    if (step_.step.direction == EdgeDirection::kOut) {
      Does(absl::StrCat("out-lists are those of ",
                        router_.schema().EdgeTypeName(step_.edge_type.value)));
    }
    if (step_.draws_here()) {
      const double whole = cost_.lists * degrees.MeanOf(step_.edge_type, kAllNeighbors);
      Does("whole lists come");
      Call(cost_.lists, AskBytes(whole));
      ReadCondition(whole);
      if (drawn) {
        Does(absl::StrCat(step_.step.count, " of each are drawn here, at most"));
        Fetch(cost_.lists, 2 * kIdBytes);  // keys
        if (step_.weighted()) {
          Does(absl::StrCat("by ", step_.step.by, ", which comes of all their edges"));
          Fetch(whole, EdgeBytes(step_.step.by));
        }
      }
      return Finish();
    }
    Does(drawn ? absl::StrCat("servers draw ", step_.step.count, " of each list")
               : "whole lists come");
    if (step_.weighted()) Does(absl::StrCat("by ", step_.step.by));
    if (step_.edges_where != nullptr) Does("they look at the condition, which leaves fewer");
    Call(cost_.lists, AskBytes(cost_.nodes));
    return Finish();
  }

  StepCost OfNegatives(const Degrees& degrees) {
    cost_.nodes = cost_.lists * static_cast<double>(step_.step.count);
    Does(step_.step.exact ? "drawn here; servers say which pairs are edges" : "drawn here");
    if (step_.shares_negatives() && cost_.lists > 0) {
      distinct_ = std::min(cost_.nodes, SharedNegatives(degrees));
      Does(absl::StrCat("the same for all, some ", std::llround(distinct_), " nodes"));
    }
    for (size_t i = 0; i < step_.step.same.size(); ++i) Fetch(cost_.lists, 2 * kIdBytes);
    if (step_.step.exact) Fetch(cost_.nodes, 3 * kIdBytes);
    return Finish();
  }

  // Different nodes among those that the step makes, as far as that is known.
  double distinct() const { return distinct_; }

  StepCost OfLayer(const Degrees& degrees) {
    const double whole = cost_.lists * degrees.MeanOf(step_.edge_type, kAllNeighbors);
    cost_.nodes = whole > 0 ? static_cast<double>(step_.step.count) : 0;
    Does(absl::StrCat("whole lists come, ", step_.step.count, " of all are drawn here"));
    Call(cost_.lists, AskBytes(whole));
    cost_.lists = 1;
    if (step_.weighted()) Fetch(whole, EdgeBytes(step_.step.by));
    return Finish();
  }

  StepCost OfWalk() {
    cost_.nodes = cost_.lists * NodesOfWalk(0);
    Does(absl::StrCat("walks of up to ", step_.walk.length, " steps, on the servers"));
    if (!step_.walk.weighted_by.empty()) Does(absl::StrCat("by ", step_.walk.weighted_by));
    AskWalks(cost_.lists, CountSteps());
    return Finish();
  }

  // Of edges to these targets those stay that come from one of so many sources: by chance.
  StepCost OfInduced(const Degrees& degrees, double sources) {
    const EdgeTypeSpec& spec = router_.schema().edge_types[step_.edge_type.value];
    const auto all_targets = static_cast<double>(router_.book().num_nodes({spec.target_type}));
    const auto all_sources = static_cast<double>(router_.book().num_nodes({spec.source_type}));
    cost_.lists = std::min(cost_.lists, all_targets);
    cost_.nodes = std::min(sources, all_sources);
    const double whole = cost_.lists * degrees.MeanOf(step_.edge_type, kAllNeighbors);
    edges_ = all_sources > 0 ? whole * cost_.nodes / all_sources : 0;
    Does(absl::StrCat("whole lists come, of which some ", std::llround(edges_),
                      " edges between these nodes stay"));
    if (step_.edges_where != nullptr) Does("servers look at the condition, which leaves fewer");
    Fetch(cost_.lists, 2 * kIdBytes);  // degrees
    const double rounds = std::ceil(whole / static_cast<double>(kInducedAtATime));
    cost_.shard_calls += rounds * std::min<double>(router_.book().num_shards(), cost_.lists);
    cost_.bytes += AskBytes(whole);
    return Finish();
  }

  // Pushing ends when what is under way of a walker's chance, of which alpha stays in every round,
  // is below eps; and a seed follows at most 1 / (alpha x eps) edges.
  StepCost OfPpr(const Degrees& degrees) {
    const PprSpec& spec = step_.ppr;
    double edges = 0;
    for (const int32_t type : FollowedTypes(router_.schema(), spec)) {
      const NodeTypeId target{router_.schema().edge_types[type].target_type};
      edges += static_cast<double>(router_.book().num_nodes(target)) *
               degrees.MeanOf(EdgeTypeId{type}, spec.max_neighbors);
    }
    edges = std::min(edges, cost_.lists / (spec.alpha * spec.eps));
    const auto num_nodes = static_cast<double>(router_.book().num_nodes(step_.node_type));
    cost_.nodes = cost_.lists * std::min(static_cast<double>(spec.top), num_nodes);
    const double rounds = std::ceil(std::max(1.0, std::log(spec.eps) / std::log(1 - spec.alpha)));
    const bool weighted = !spec.weighted_by.empty();
    Does(absl::StrCat("degrees and whole lists come, in up to ", rounds, " rounds and of up to ",
                      std::llround(edges), " edges; pushed here"));
    if (weighted) Does(absl::StrCat("by ", spec.weighted_by));
    if (cost_.lists == 0) return Finish();
    cost_.shard_calls += rounds * (weighted ? 3 : 2) * router_.book().num_shards();
    cost_.bytes += edges * (weighted ? 5 : 3) * kIdBytes;
    return Finish();
  }

  StepCost OfVisited() {
    const double walks = cost_.lists * static_cast<double>(step_.step.num_walks);
    const double visits = NodesOfWalk(1) * static_cast<double>(step_.step.num_walks);
    cost_.nodes = cost_.lists * std::min(static_cast<double>(step_.step.top), visits);
    Does(absl::StrCat(step_.step.num_walks, " walks of up to ", step_.walk.length,
                      " steps of each, on the servers"));
    if (!step_.walk.weighted_by.empty()) Does(absl::StrCat("by ", step_.walk.weighted_by));
    AskWalks(walks, CountSteps());
    Does(absl::StrCat("the ", step_.step.top, " most visited are counted here"));
    return Finish();
  }

 private:
  // Different negatives, if all lists have the same: a row of draws, and one more wherever an edge
  // joins one of a list to its node. Those that go by a value of the list's own are counted apart.
  double SharedNegatives(const Degrees& degrees) const {
    double own = 0;
    for (const double share : step_.step.shares) {
      own += std::floor(share * static_cast<double>(step_.step.count));
    }
    const double joined = step_.step.exact ? cost_.nodes * ChanceOfEdge(degrees) : 0;
    return static_cast<double>(step_.step.count) + own * (cost_.lists - 1) + joined;
  }
  // That an edge of the step's type joins two nodes, if any two are as likely as others.
  double ChanceOfEdge(const Degrees& degrees) const {
    const EdgeTypeSpec& spec = router_.schema().edge_types[step_.edge_type.value];
    const auto all_sources = static_cast<double>(router_.book().num_nodes({spec.source_type}));
    return all_sources > 0 ? degrees.MeanOf(step_.edge_type, kAllNeighbors) / all_sources : 0;
  }
  // Of a walk, as long as it does not end for want of edges.
  double CountSteps() const {
    double steps = 0;
    for (int64_t step = 1; step <= step_.walk.length; ++step) {
      steps += std::pow(1 - step_.walk.restart_prob, static_cast<double>(step));
    }
    return steps;
  }
  // Likewise, where it is at nodes of the step's type, from its `first` step on.
  double NodesOfWalk(int64_t first) const {
    double nodes = 0;
    for (int64_t step = first; step <= step_.walk.length; ++step) {
      if (NodeTypeOfWalk(router_.schema(), step_.walk, step) != step_.node_type.value) continue;
      nodes += std::pow(1 - step_.walk.restart_prob, static_cast<double>(step));
    }
    return nodes;
  }
  // So many walks of so many steps: every one of these may lead to another shard.
  void AskWalks(double walks, double steps) {
    const WalkSpec& spec = step_.walk;
    const double num_shards = router_.book().num_shards();
    const double numbers = step_.step.edge_ids ? 2 : 1;
    if (spec.p != 1 || spec.q != 1) {
      Does("node2vec's: candidates come, and of each whether an edge leads to it, step by step");
      cost_.shard_calls += 2 * static_cast<double>(spec.length) * std::min(num_shards, walks);
      cost_.bytes += walks * steps * (5 + numbers) * kIdBytes;
      return;
    }
    const double most_rounds = num_shards > 1 ? static_cast<double>(spec.length) : 1;
    const double stays = 1 + steps * (1 - 1 / num_shards);  // of a walk, at shards
    cost_.shard_calls += most_rounds * std::min(num_shards, walks);
    cost_.bytes += walks * (stays * 2 + steps * numbers) * kIdBytes;
    if (num_shards > 1) Does("each goes on wherever it comes to another shard");
  }
  void Does(const std::string& what) {
    absl::StrAppend(&cost_.does, cost_.does.empty() ? "" : "; ", what);
  }
  // A question about so many things, of which every shard has some.
  void Call(double things, double bytes) {
    cost_.shard_calls += std::min<double>(router_.book().num_shards(), things);
    cost_.bytes += bytes;
  }
  void Fetch(double rows, double row_bytes) { Call(rows, rows * row_bytes); }
  // Of a question about lists, and their nodes.
  double AskBytes(double nodes) const {
    const int numbers = 1 + (step_.step.edge_ids ? 1 : 0) + (step_.needs_edge_rows() ? 1 : 0);
    return cost_.lists * 2 * kIdBytes + nodes * numbers * kIdBytes;
  }
  double EdgeBytes(const std::string& column) const {
    const EdgeTypeSpec& spec = router_.schema().edge_types[step_.edge_type.value];
    return kIdBytes + static_cast<double>(spec.columns[spec.FindColumn(column)].row_bytes());
  }
  double NodeBytes(int32_t column) const {
    return kIdBytes + static_cast<double>(router_.RowBytes(step_.node_type, column));
  }
  // Of the condition on nodes, each once.
  std::vector<std::string> ConditionColumns() const {
    const NodeTypeSpec& spec = router_.schema().node_types[step_.node_type.value];
    std::vector<std::string> names;
    for (const RowCondition::Term& term : step_.nodes_where->terms) {
      if (!IsComparison(term.op)) continue;
      const std::string& name = spec.columns[term.column].name;
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    return names;
  }
  // By servers, which looked at all nodes of the type.
  std::string HowFound(int64_t num_read) const {
    const std::string columns = absl::StrJoin(ConditionColumns(), ", ");
    const int64_t all = router_.book().num_nodes(step_.node_type);
    if (num_read >= all) return absl::StrCat("by reading ", columns);
    if (num_read == 0) return absl::StrCat("by index of ", columns);
    return absl::StrCat("by index, and by reading ", columns, " of ", num_read, " of ", all);
  }
  void ReadCondition(double nodes) {
    const NodeTypeSpec& spec = router_.schema().node_types[step_.node_type.value];
    const std::vector<std::string> names = ConditionColumns();
    for (const std::string& name : names) Fetch(nodes, NodeBytes(spec.FindColumn(name)));
    Does(absl::StrCat(absl::StrJoin(names, ", "), " of their nodes is read, without an index"));
  }
  StepCost Finish() {
    if (step_.order == OrderKind::kEdgeColumn) {
      Fetch(cost_.nodes, EdgeBytes(step_.step.order_by));
    } else if (step_.order != OrderKind::kNone) {
      Fetch(cost_.nodes, 2 * kIdBytes);
    }
    if (step_.order != OrderKind::kNone) Does(absl::StrCat("ordered by ", step_.step.order_by));
    if (step_.step.limit >= 0) {
      cost_.nodes = std::min(cost_.nodes, cost_.lists * static_cast<double>(step_.step.limit));
      Does(absl::StrCat("the first ", step_.step.limit));
    }
    distinct_ = distinct_ < 0 ? cost_.nodes : std::min(distinct_, cost_.nodes);
    for (const int32_t column : step_.columns) Fetch(distinct_, NodeBytes(column));
    for (const std::string& column : step_.step.edge_columns) {
      Fetch(edges_ < 0 ? cost_.nodes : edges_, EdgeBytes(column));
    }
    return std::move(cost_);
  }

  const ShardRouter& router_;
  const ResolvedStep& step_;
  StepCost cost_;
  double edges_ = -1;     // that have columns; -1: one a node
  double distinct_ = -1;  // nodes; until the end -1: all
};

// How many nodes of a kInduced edges may lead to, and in `sources` how many they may come from.
// `distinct`: the nodes of each step, which count once.
double NodesAmong(const Schema& schema, const std::vector<ResolvedStep>& steps,
                  const std::vector<double>& distinct, const ResolvedStep& step, double* sources) {
  const EdgeTypeSpec& ends = schema.edge_types[step.edge_type.value];
  double targets = 0;
  for (const int32_t other : step.among) {
    const int32_t type = steps[other].node_type.value;
    if (type == ends.source_type) *sources += distinct[other];
    if (type == ends.target_type) targets += distinct[other];
  }
  return targets;
}

}  // namespace

absl::StatusOr<std::vector<StepCost>> ForetellCost(const ShardRouter& router,
                                                   const std::vector<ResolvedStep>& steps,
                                                   absl::Span<const KnownStep> known,
                                                   const CallContext& context) {
  Degrees degrees(router);
  std::vector<StepCost> costs;
  std::vector<double> distinct;
  for (size_t i = 0; i < steps.size(); ++i) {
    const ResolvedStep& step = steps[i];
    const bool induced = step.step.kind == StepKind::kInduced;
    double lists = step.from < 0 ? 1 : costs[step.from].nodes;
    double sources = 0;
    if (induced) lists = NodesAmong(router.schema(), steps, distinct, step, &sources);
    StepTally tally(router, step, lists);
    const bool by_degree = induced || step.step.kind == StepKind::kNeighbors ||
                           step.step.kind == StepKind::kLayer ||
                           (step.shares_negatives() && step.step.exact);
    if (by_degree) VICINITY_RETURN_IF_ERROR(degrees.Look(step.edge_type, context));
    switch (step.step.kind) {
      case StepKind::kNodes:
        costs.push_back(tally.OfNodes(known[i]));
        break;
      case StepKind::kNeighbors:
        costs.push_back(tally.OfNeighbors(degrees));
        break;
      case StepKind::kNegatives:
        costs.push_back(tally.OfNegatives(degrees));
        break;
      case StepKind::kLayer:
        costs.push_back(tally.OfLayer(degrees));
        break;
      case StepKind::kWalk:
        costs.push_back(tally.OfWalk());
        break;
      case StepKind::kVisited:
        costs.push_back(tally.OfVisited());
        break;
      case StepKind::kInduced:
        costs.push_back(tally.OfInduced(degrees, sources));
        break;
      case StepKind::kPpr:
        for (const int32_t type : FollowedTypes(router.schema(), step.ppr)) {
          VICINITY_RETURN_IF_ERROR(degrees.Look(EdgeTypeId{type}, context));
        }
        costs.push_back(tally.OfPpr(degrees));
        break;
    }
    distinct.push_back(tally.distinct());
  }
  return costs;
}

}  // namespace vicinity
