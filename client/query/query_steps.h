// A query's steps by the numbers of a graph: what a run of it follows, and what its cost is told
// by.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "client/query/query.h"
#include "client/shards/edge_rows.h"
#include "partition/schema/condition.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "sampler/proximity/ppr_spec.h"
#include "sampler/proximity/visit_counts.h"
#include "sampler/walk_spec.h"

namespace vicinity {

// What lists are put in the order of.
enum class OrderKind : uint8_t { kNone, kId, kEdgeColumn, kNodeColumn };

struct ResolvedStep {
  QueryStep step;
  int32_t from = -1;             // which step; -1: none
  int32_t like = -1;             // likewise
  std::vector<int32_t> among{};  // likewise
  NodeTypeId node_type{};        // of the nodes it makes
  // But of kNodes; of several, as walks have them, the first; of kOut, which has its out-lists, the
  // reversed type.
  EdgeTypeId edge_type{};
  // Of its condition one of these, or neither.
  std::shared_ptr<const RowCondition> edges_where{};
  std::shared_ptr<const RowCondition> nodes_where{};
  OrderKind order = OrderKind::kNone;
  int32_t order_column = -1;
  std::vector<int32_t> columns{};  // of the node type
  std::vector<EdgeColumnPlan> edge_columns{};
  WalkSpec walk{};         // of a kWalk, a kVisited
  PprSpec ppr{};           // of a kPpr,
  NodeTypeId seed_type{};  // and of which type the nodes are that it goes on from

  VisitSpec visits() const;  // of a kVisited
  bool weighted() const { return !step.by.empty(); }
  bool shares_negatives() const { return step.kind == StepKind::kNegatives && step.shared; }
  // Whether servers give whole lists, which are drawn from here.
  bool draws_here() const { return nodes_where != nullptr; }
  // Whether lists come with what rows of their edges are found by.
  bool needs_edge_rows() const {
    return order == OrderKind::kEdgeColumn || !edge_columns.empty() ||
           step.kind == StepKind::kLayer || (draws_here() && weighted());
  }
};

// Errors name the step. InvalidArgument: a name that is none or comes twice, a step that it goes on
// from and that does not stand before it or makes nodes of another type, a condition or a value
// that does not fit, or does not belong to its kind, a limit exceeded. NotFound naming the types,
// columns there are.
absl::StatusOr<std::vector<ResolvedStep>> ResolveQuery(const Schema& schema, const Query& query);

}  // namespace vicinity
