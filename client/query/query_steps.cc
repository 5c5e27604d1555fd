#include "client/query/query_steps.h"

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "client/query/query_text.h"
#include "client/shards/lookups.h"
#include "partition/schema/condition_text.h"
#include "partition/schema/reverse_type.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr double kMostPower = 16;

bool IsName(absl::string_view name) {
  if (name.empty() || !(absl::ascii_isalpha(name[0]) || name[0] == '_')) return false;
  for (const char c : name) {
    if (!absl::ascii_isalnum(c) && c != '_' && c != '-' && c != '.') return false;
  }
  return true;
}

std::string NamesOf(const std::vector<ColumnSpec>& columns) {
  if (columns.empty()) return "none";
  return absl::StrJoin(columns, ", ", [](std::string* out, const ColumnSpec& column) {
    absl::StrAppend(out, column.name);
  });
}

bool HasAll(const std::vector<ColumnSpec>& columns, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    bool found = false;
    for (const ColumnSpec& column : columns) found = found || column.name == name;
    if (!found) return false;
  }
  return true;
}

class Resolver {
 public:
  Resolver(const Schema& schema, const std::vector<ResolvedStep>& before, const QueryStep& step)
      : schema_(schema), before_(before) {
    resolved_.step = step;
  }

  absl::StatusOr<ResolvedStep> Resolve() {
    VICINITY_RETURN_IF_ERROR(ResolveName());
    VICINITY_RETURN_IF_ERROR(ResolveTypes());
    VICINITY_RETURN_IF_ERROR(CheckNumbers());
    VICINITY_RETURN_IF_ERROR(CheckKind());
    VICINITY_RETURN_IF_ERROR(ResolveLike());
    VICINITY_RETURN_IF_ERROR(ResolveBy());
    VICINITY_RETURN_IF_ERROR(ResolveWhere());
    VICINITY_RETURN_IF_ERROR(ResolveOrder());
    VICINITY_RETURN_IF_ERROR(ResolveColumns());
    return std::move(resolved_);
  }

 private:
  const QueryStep& step() const { return resolved_.step; }
  bool of_nodes() const { return step().kind == StepKind::kNodes; }
  bool goes_out() const {
    return step().kind == StepKind::kNeighbors && step().direction == EdgeDirection::kOut;
  }
  bool ppr() const { return step().kind == StepKind::kPpr; }
  bool induced() const { return step().kind == StepKind::kInduced; }
  bool counted() const { return !walks() && !ppr() && !induced(); }
  bool visited() const { return step().kind == StepKind::kVisited; }
  bool walks() const { return step().kind == StepKind::kWalk || visited(); }
  const NodeTypeSpec& node_spec() const { return schema_.node_types[resolved_.node_type.value]; }
  const EdgeTypeSpec& edge_spec() const { return schema_.edge_types[resolved_.edge_type.value]; }

  absl::Status ResolveName() {
    if (!IsName(step().name)) {
      return absl::InvalidArgumentError(
          absl::StrCat("a step's name is `", step().name,
                       "`: a letter or _, then these, digits, - and . make one"));
    }
    for (const ResolvedStep& other : before_) {
      if (other.step.name == step().name) return Wrong("another step has this name");
    }
    if (!of_nodes() && !induced()) return FindStep(step().from, &resolved_.from);
    if (!step().from.empty()) {
      return Wrong(absl::StrCat(StepKindName(step().kind), " go on from no other step"));
    }
    for (const std::string& name : step().among) {
      int32_t found = -1;
      VICINITY_RETURN_IF_ERROR(FindStep(name, &found));
      resolved_.among.push_back(found);
    }
    return absl::OkStatus();
  }

  absl::Status FindStep(const std::string& name, int32_t* found) const {
    std::vector<std::string> names;
    for (size_t i = 0; i < before_.size(); ++i) {
      names.push_back(before_[i].step.name);
      if (names.back() == name) *found = static_cast<int32_t>(i);
    }
    if (*found >= 0) return absl::OkStatus();
    return Wrong(absl::StrCat("no step before it is named `", name, "`, there are: ",
                              names.empty() ? "none" : absl::StrJoin(names, ", ")));
  }

  absl::Status ResolveLike() {
    if (step().same.size() != step().shares.size()) {
      return Wrong(absl::StrCat(step().same.size(), " columns in same and ", step().shares.size(),
                                " shares: give one for each"));
    }
    if (step().same.empty() != step().like.empty()) {
      return Wrong(
          "like, same and shares go together: a step of targets, columns, a share for each");
    }
    if (step().like.empty()) return absl::OkStatus();
    VICINITY_RETURN_IF_ERROR(FindStep(step().like, &resolved_.like));
    const NodeTypeId type = before_[resolved_.like].node_type;
    if (type.value == resolved_.node_type.value) return absl::OkStatus();
    return Wrong(absl::StrCat("like ", step().like, ", whose nodes are of type ",
                              NameOf(type.value), ", but targets are of type ",
                              NameOf(resolved_.node_type.value)));
  }

  absl::Status FindNodeType(const std::string& name, NodeTypeId* found) const {
    const int type = schema_.FindNodeType(name);
    if (type < 0) {
      return Missing(
          "node type", name,
          absl::StrJoin(schema_.node_types, ", ", [](std::string* out, const NodeTypeSpec& type) {
            absl::StrAppend(out, type.name);
          }));
    }
    *found = NodeTypeId{type};
    return absl::OkStatus();
  }

  absl::Status FindEdgeType(const std::string& name, EdgeTypeId* found) const {
    const int type = schema_.FindEdgeType(name);
    if (type < 0) {
      std::vector<std::string> known;
      for (size_t i = 0; i < schema_.edge_types.size(); ++i) {
        known.push_back(schema_.EdgeTypeName(static_cast<int>(i)));
      }
      return Missing("edge type (or several relations of this name)", name,
                     absl::StrJoin(known, ", "));
    }
    *found = EdgeTypeId{type};
    return absl::OkStatus();
  }

  absl::Status ResolveTypes() {
    if (of_nodes()) return FindNodeType(step().type, &resolved_.node_type);
    if (walks()) return ResolveWalk();
    if (ppr()) return ResolvePpr();
    VICINITY_RETURN_IF_ERROR(FindEdgeType(step().type, &resolved_.edge_type));
    if (induced()) return ResolveInduced();
    if (goes_out()) VICINITY_RETURN_IF_ERROR(TurnRound());
    const bool backwards = step().kind == StepKind::kNegatives;  // from sources to targets
    const int32_t begins = backwards ? edge_spec().source_type : edge_spec().target_type;
    resolved_.node_type = NodeTypeId{backwards ? edge_spec().target_type : edge_spec().source_type};
    return CheckFrom(begins);
  }

  // Out-lists are the in-lists of the reversed type.
  absl::Status TurnRound() {
    const int reverse = FindReverse(schema_, resolved_.edge_type.value);
    if (reverse >= 0) {
      resolved_.edge_type = EdgeTypeId{reverse};
      return absl::OkStatus();
    }
    return Named(absl::NotFoundError(absl::StrCat(
        "direction=out along ", schema_.EdgeTypeName(resolved_.edge_type.value),
        " needs its reversed edges, but the graph has no edge type ",
        NameOf(edge_spec().target_type), ":", ReverseRelation(edge_spec().relation), ":",
        NameOf(edge_spec().source_type),
        ": import it with add_reverse_apart (--add-reverse-apart); if its edges lead both ways "
        "already, as add_reverse makes those of a single type, ask without direction")));
  }

  // That the nodes which the step goes on from are of the type at which its edges begin.
  absl::Status CheckFrom(int32_t begins) const {
    const ResolvedStep& from = before_[resolved_.from];
    if (from.node_type.value == begins) return absl::OkStatus();
    return Wrong(absl::StrCat("step ", from.step.name, " makes nodes of type ",
                              NameOf(from.node_type.value), ", but ", StepKindName(step().kind),
                              " along ", schema_.EdgeTypeName(resolved_.edge_type.value),
                              " are of nodes of type ", NameOf(begins)));
  }

  absl::Status ResolveInduced() {
    resolved_.node_type = NodeTypeId{edge_spec().source_type};
    if (step().among.empty()) return Wrong("induced names no steps, whose nodes its edges join");
    for (const int32_t number : resolved_.among) {
      const ResolvedStep& other = before_[number];
      const int32_t type = other.node_type.value;
      if (type == edge_spec().source_type || type == edge_spec().target_type) continue;
      return Wrong(absl::StrCat("step ", other.step.name, " makes nodes of type ", NameOf(type),
                                ", which ", schema_.EdgeTypeName(resolved_.edge_type.value),
                                " does not join"));
    }
    return absl::OkStatus();
  }

  absl::Status ResolveWalk() {
    WalkSpec& walk = resolved_.walk;
    for (const std::string& name : step().metapath) {
      EdgeTypeId type{};
      VICINITY_RETURN_IF_ERROR(FindEdgeType(name, &type));
      walk.metapath.push_back(type.value);
    }
    walk.length = step().length;
    walk.weighted_by = step().weighted_by;
    walk.restart_prob = step().restart_prob;
    walk.p = step().p;
    walk.q = step().q;
    const std::string problem = WalkProblem(schema_, walk);
    if (!problem.empty()) return Wrong(problem);
    resolved_.edge_type = EdgeTypeId{walk.metapath.front()};
    resolved_.node_type = NodeTypeId{edge_spec().target_type};
    VICINITY_RETURN_IF_ERROR(CheckFrom(edge_spec().target_type));
    if (!step().node_type.empty()) {
      VICINITY_RETURN_IF_ERROR(FindNodeType(step().node_type, &resolved_.node_type));
    }
    return visited() ? CheckVisits() : CheckWalk();
  }

  absl::Status ResolvePpr() {
    PprSpec& spec = resolved_.ppr;
    for (const std::string& name : step().edge_types) {
      EdgeTypeId type{};
      VICINITY_RETURN_IF_ERROR(FindEdgeType(name, &type));
      spec.edge_types.push_back(type.value);
    }
    spec.weighted_by = step().weighted_by;
    spec.alpha = step().alpha;
    spec.eps = step().eps;
    spec.top = step().top;
    spec.max_neighbors = step().max_neighbors;
    resolved_.seed_type = before_[resolved_.from].node_type;
    resolved_.node_type = resolved_.seed_type;
    if (!step().node_type.empty()) {
      VICINITY_RETURN_IF_ERROR(FindNodeType(step().node_type, &resolved_.node_type));
    }
    spec.node_type = resolved_.node_type.value;
    const std::string problem = PprProblem(schema_, spec, resolved_.seed_type.value, 0);
    if (!problem.empty()) return Wrong(problem);
    resolved_.edge_type = EdgeTypeId{FollowedTypes(schema_, spec).front()};
    return absl::OkStatus();
  }

  absl::Status CheckVisits() const {
    const std::string problem = VisitProblem(schema_, resolved_.visits(), /*num_starts=*/0);
    return problem.empty() ? absl::OkStatus() : Wrong(problem);
  }

  absl::Status CheckWalk() const {
    const WalkSpec& walk = resolved_.walk;
    for (int64_t made = 0; made <= walk.length; ++made) {
      if (NodeTypeOfWalk(schema_, walk, made) == resolved_.node_type.value) return absl::OkStatus();
    }
    return Wrong(absl::StrCat("node_type ", step().node_type, ", but walks of ", walk.length,
                              " steps along this metapath never come to such nodes"));
  }

  absl::Status CheckNumbers() const {
    if (counted()) VICINITY_RETURN_IF_ERROR(CheckCount());
    if (step().limit < -1) return Wrong(absl::StrCat("a limit of ", step().limit));
    if (!(step().degree_power >= 0) || step().degree_power > kMostPower) {
      return Wrong(absl::StrCat("degree_power ", step().degree_power, ": from 0 to ", kMostPower));
    }
    const size_t num_columns = step().columns.size() + step().edge_columns.size();
    if (num_columns <= static_cast<size_t>(kMostStepColumns)) return absl::OkStatus();
    return Wrong(absl::StrCat(num_columns, " columns, at most ", kMostStepColumns));
  }

  absl::Status CheckCount() const {
    const bool of_each =
        step().kind != StepKind::kLayer && !of_nodes();  // nodes that it goes on from
    const bool may_be_all = step().kind == StepKind::kNeighbors || of_nodes();
    const int64_t most = of_each ? kMaxFanout : kMostStepNodes;
    const bool is_all = step().count == kAllNeighbors;
    if ((!is_all || may_be_all) && (is_all || (step().count >= 1 && step().count <= most))) {
      return absl::OkStatus();
    }
    return Wrong(absl::StrCat("a count of ", step().count, ": from 1 to ", most,
                              may_be_all ? ", or all" : ""));
  }

  // That there is nothing that its kind has not.
  absl::Status CheckKind() const {
    const bool neighbors = step().kind == StepKind::kNeighbors;
    const bool lists = of_nodes() || neighbors;
    const bool negatives = step().kind == StepKind::kNegatives;
    const std::vector<std::pair<absl::string_view, bool>> not_its_own = {
        {"input", !of_nodes() && !step().input.empty()},
        {"ids", !of_nodes() && !step().ids.empty()},
        {"type", (walks() || ppr()) && !step().type.empty()},
        {"count", !counted() && step().count != kAllNeighbors},
        {"by", !counted() && !step().by.empty()},
        {"metapath", !walks() && !step().metapath.empty()},
        {"length", !walks() && step().length != 0},
        {"weighted_by", !walks() && !ppr() && !step().weighted_by.empty()},
        {"restart_prob", !walks() && step().restart_prob != 0},
        {"p", !walks() && step().p != 1},
        {"q", !walks() && step().q != 1},
        {"node_type", !walks() && !ppr() && !step().node_type.empty()},
        {"num_walks", !visited() && step().num_walks != 0},
        {"top", !visited() && !ppr() && step().top != 0},
        {"exclude_start", !visited() && step().exclude_start},
        {"among", !induced() && !step().among.empty()},
        {"edge_types", !ppr() && !step().edge_types.empty()},
        {"alpha", !ppr() && step().alpha != PprSpec().alpha},
        {"eps", !ppr() && step().eps != PprSpec().eps},
        {"max_neighbors", !ppr() && step().max_neighbors != kAllNeighbors},
        {"split", !of_nodes() && step().split != Split::kNone},
        {"replace", !neighbors && step().replace},
        {"direction", !neighbors && step().direction != EdgeDirection::kIn},
        {"exact", !negatives && !step().exact},
        {"degree_power", !negatives && step().degree_power != 0},
        {"shared", !negatives && step().shared},
        {"like", !negatives && !step().like.empty()},
        {"same", !negatives && !step().same.empty()},
        {"square_root", step().kind != StepKind::kLayer && step().square_root},
        {"where", !lists && !induced() && !step().where.empty()},
        {"order_by", !lists && !step().order_by.empty()},
        {"descending", !lists && step().descending},
        {"limit", !lists && step().limit >= 0},
        {"edge_columns", !neighbors && !induced() && !step().edge_columns.empty()},
        {"edge_ids",
         !neighbors && !induced() && step().kind != StepKind::kWalk && step().edge_ids}};
    for (const auto& [name, is_given] : not_its_own) {
      if (is_given) return Wrong(absl::StrCat(StepKindName(step().kind), " have no ", name));
    }
    if (of_nodes()) return CheckNodes();
    if (neighbors && step().count == kAllNeighbors && (step().replace || !step().by.empty())) {
      return Wrong("by and replace are for drawn neighbors: give a count");
    }
    return absl::OkStatus();
  }

  absl::Status CheckNodes() const {
    const bool given = !step().input.empty() || !step().ids.empty();
    const bool drawn = step().count != kAllNeighbors;
    if (!step().input.empty() && !step().ids.empty()) return Wrong("an input, or ids: not both");
    if (given && step().split != Split::kNone) return Wrong("nodes that are given, and split");
    if (given && drawn) return Wrong("nodes that are given are not drawn: leave count out");
    if (!drawn && !step().by.empty()) return Wrong("by is for drawn nodes: give count");
    if (step().split != Split::kNone && node_spec().split_column.empty()) {
      return Wrong(absl::StrCat("node type ", node_spec().name, " has no splits"));
    }
    return absl::OkStatus();
  }

  absl::Status ResolveBy() const {
    if (step().by.empty()) return absl::OkStatus();
    if (of_nodes() || step().kind == StepKind::kNegatives) {
      if (step().degree_power != 0) return Wrong("by and degree_power: give one of them");
      return Named(FindNodeColumn(node_spec(), step().by).status());
    }
    if (edge_spec().weight_column == step().by) return absl::OkStatus();
    const std::string has = edge_spec().weight_column.empty()
                                ? "none"
                                : absl::StrCat("`", edge_spec().weight_column, "`");
    return Wrong(absl::StrCat("by `", step().by, "`, but the weight column of ",
                              schema_.EdgeTypeName(resolved_.edge_type.value), " is ", has));
  }

  absl::Status ResolveWhere() {
    if (step().where.empty()) return absl::OkStatus();
    absl::StatusOr<Condition> condition = ParseCondition(step().where);
    if (!condition.ok()) return Named(condition.status());
    const std::vector<std::string> names = ColumnsOf(*condition);
    const bool of_edges = !of_nodes() && HasAll(edge_spec().columns, names);
    if (!of_edges && !HasAll(node_spec().columns, names)) {
      return Wrong(absl::StrCat(
          "the condition names ", absl::StrJoin(names, ", "), "; columns of ",
          of_nodes() ? ""
                     : absl::StrCat(schema_.EdgeTypeName(resolved_.edge_type.value), " are ",
                                    NamesOf(edge_spec().columns), ", those of "),
          node_spec().name, " ", NamesOf(node_spec().columns),
          of_nodes() ? "" : ", and one condition is of either"));
    }
    if (induced() && !of_edges) {
      return Wrong(absl::StrCat(
          "the condition names ", absl::StrJoin(names, ", "),
          ", but that of induced is on columns of the edges: ", NamesOf(edge_spec().columns)));
    }
    absl::StatusOr<RowCondition> rows =
        ResolveCondition(*condition, of_edges ? edge_spec().columns : node_spec().columns);
    if (!rows.ok()) return Named(rows.status());
    auto where = std::make_shared<const RowCondition>(*std::move(rows));
    (of_edges ? resolved_.edges_where : resolved_.nodes_where) = std::move(where);
    return absl::OkStatus();
  }

  absl::Status ResolveOrder() {
    if (step().order_by.empty()) {
      return step().descending ? Wrong("descending is for order_by") : absl::OkStatus();
    }
    const std::string& name = step().order_by;
    if (name == "id") {
      resolved_.order = OrderKind::kId;
      if (node_spec().id_kind != IdKind::kString) return absl::OkStatus();
      return Wrong(absl::StrCat("order_by id, but the ids of ", node_spec().name,
                                " are names: order by a column"));
    }
    int column = of_nodes() ? -1 : edge_spec().FindColumn(name);
    resolved_.order = column >= 0 ? OrderKind::kEdgeColumn : OrderKind::kNodeColumn;
    if (column < 0) column = node_spec().FindColumn(name);
    if (column < 0) {
      return Wrong(absl::StrCat("order_by `", name, "` is neither id nor a column of ",
                                of_nodes()
                                    ? ""
                                    : absl::StrCat(schema_.EdgeTypeName(resolved_.edge_type.value),
                                                   " (", NamesOf(edge_spec().columns), ") or of "),
                                node_spec().name, " (", NamesOf(node_spec().columns), ")"));
    }
    resolved_.order_column = column;
    const ColumnSpec& spec = resolved_.order == OrderKind::kEdgeColumn
                                 ? edge_spec().columns[column]
                                 : node_spec().columns[column];
    if (spec.num_values() == 1) return absl::OkStatus();
    return Wrong(
        absl::StrCat("order_by `", name, "`, of which a row has ", spec.num_values(), " values"));
  }

  absl::Status ResolveColumns() {
    for (const std::string& name : step().columns) {
      absl::StatusOr<int32_t> column = FindNodeColumn(node_spec(), name);
      if (!column.ok()) return Named(column.status());
      resolved_.columns.push_back(*column);
    }
    for (const std::string& name : step().edge_columns) {
      absl::StatusOr<EdgeColumnPlan> column =
          FindEdgeColumn(schema_, resolved_.edge_type.value, name);
      if (!column.ok()) return Named(column.status());
      resolved_.edge_columns.push_back(*column);
    }
    return absl::OkStatus();
  }

  std::string NameOf(int32_t node_type) const { return schema_.node_types[node_type].name; }

  absl::Status Named(const absl::Status& status) const {
    if (status.ok()) return status;
    return absl::Status(status.code(), absl::StrCat("step ", step().name, ": ", status.message()));
  }
  absl::Status Wrong(absl::string_view what) const {
    return Named(absl::InvalidArgumentError(what));
  }
  absl::Status Missing(absl::string_view what, const std::string& name,
                       const std::string& known) const {
    return Named(
        absl::NotFoundError(absl::StrCat("no ", what, " `", name, "`, there are ", known)));
  }

  const Schema& schema_;
  const std::vector<ResolvedStep>& before_;
  ResolvedStep resolved_;
};

}  // namespace

VisitSpec ResolvedStep::visits() const {
  VisitSpec spec;
  spec.walk = walk;
  spec.num_walks = step.num_walks;
  spec.top = step.top;
  spec.node_type = node_type.value;
  spec.exclude_start = step.exclude_start;
  return spec;
}

absl::StatusOr<std::vector<ResolvedStep>> ResolveQuery(const Schema& schema, const Query& query) {
  if (query.steps.empty()) return absl::InvalidArgumentError("a query without steps");
  if (static_cast<int64_t>(query.steps.size()) > kMostQuerySteps) {
    return absl::InvalidArgumentError(
        absl::StrCat("a query of ", query.steps.size(), " steps, at most ", kMostQuerySteps));
  }
  std::vector<ResolvedStep> steps;
  for (const QueryStep& step : query.steps) {
    VICINITY_ASSIGN_OR_RETURN(ResolvedStep resolved, Resolver(schema, steps, step).Resolve());
    steps.push_back(std::move(resolved));
  }
  return steps;
}

}  // namespace vicinity
