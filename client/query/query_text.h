// How queries are written:
//
//   query     = { step ( newline | ";" ) }
//   step      = name "=" kind "(" [ argument { "," argument } ] ")"
//   kind      = nodes | neighbors | negatives | layer | walk | visited | ppr | induced
//   argument  = value | word "=" value
//   value     = word | text | number | "$" word | true | false | "[" [ value { "," value } ] "]"
//   word      = letters, digits and _ . - : behind a letter or _
//   text      = anything within "..." or '...' but such a quote; it goes wherever a word does
//
// What stands behind a # is a comment. The arguments, those in [ ] may be left out:
//
//   nodes(NODE_TYPE [, $input | [ID, ...]], split=train, count=64, by=COLUMN)
//   neighbors(STEP, EDGE_TYPE [, COUNT], by=COLUMN, replace=true, direction=out,
//             edge_columns=[COLUMN, ...], edge_ids=true)
//   negatives(STEP, EDGE_TYPE, COUNT, by=COLUMN, degree_power=0.75, exact=false, shared=true,
//             like=STEP, same=[COLUMN, ...], shares=[0.25, ...])
//   layer(STEP, EDGE_TYPE, COUNT, by=COLUMN, square_root=true)
//   walk(STEP, EDGE_TYPES, LENGTH, weighted_by=COLUMN, restart_prob=0.1, p=0.5, q=2,
//        node_type=NODE_TYPE, edge_ids=true)
//   visited(STEP, EDGE_TYPES, TOP, length=6, num_walks=50, exclude_start=true, weighted_by=COLUMN,
//           restart_prob=0.1, p=0.5, q=2, node_type=NODE_TYPE)
//   ppr(STEP, EDGE_TYPES, TOP, alpha=0.15, eps=1e-4, max_neighbors=1000, weighted_by=COLUMN,
//       node_type=NODE_TYPE)
//   induced(STEPS, EDGE_TYPE, edge_columns=[COLUMN, ...], edge_ids=true)
//
// and of nodes, neighbors and induced where="CONDITION", of the first two order_by=COLUMN,
// descending=true, limit=N; of all columns=[...]. COUNT is a number, or all; EDGE_TYPES is one, or
// [EDGE_TYPE, ...], and STEPS likewise. What they mean: QueryStep, by the same names.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/query/query.h"

namespace vicinity {

// InvalidArgument saying at which line and character something else was expected, and what; or
// which limit of client/query/query.h it exceeds. Whether the query fits a graph is not looked at.
absl::StatusOr<Query> ParseQuery(absl::string_view text);

// One step a line; what has its default is left out. A text with both kinds of quotes in it cannot
// be written.
std::string QueryText(const Query& query);

// "neighbors", ...
absl::string_view StepKindName(StepKind kind);

}  // namespace vicinity
