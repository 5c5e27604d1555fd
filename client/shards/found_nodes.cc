#include "client/shards/found_nodes.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/shards/fan_out.h"
#include "client/shards/keyed_nodes.h"
#include "client/shards/shard_access.h"
#include "client/shards/shard_requests.h"
#include "proto/common/status.h"
#include "sampler/rules/found_rows.h"

namespace vicinity {
namespace {

// A split is one more term of the condition: its column is of integers like others.
absl::StatusOr<RowCondition> WithSplit(const NodeTypeSpec& spec, Split split,
                                       const RowCondition& where) {
  if (split == Split::kNone) return where;
  const int column = spec.split_column.empty() ? -1 : spec.FindColumn(spec.split_column);
  if (column < 0) {
    return absl::NotFoundError(absl::StrCat("node type ", spec.name, " has no splits"));
  }
  RowCondition joined = where;
  RowCondition::Term in_split;
  in_split.op = ConditionOp::kIn;
  in_split.column = column;
  in_split.whole = {static_cast<int64_t>(split)};
  joined.terms.push_back(std::move(in_split));
  joined.terms.push_back({ConditionOp::kAnd});
  const std::string problem = CompleteCondition(spec.columns, &joined);
  if (!problem.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("a condition on nodes of a split: ", problem));
  }
  return joined;
}

absl::StatusOr<std::vector<int64_t>> InOrder(const ShardRouter& router, NodeTypeId type,
                                             const std::vector<int64_t>& nodes,
                                             const CallContext& context) {
  std::vector<uint64_t> keys(nodes.size());
  const ColumnFetch fetch{type, kKeyColumn, nodes, {}, reinterpret_cast<char*>(keys.data())};
  VICINITY_RETURN_IF_ERROR(router.FetchRows({fetch}, context));
  std::vector<KeyedNode> by_key;
  by_key.reserve(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) by_key.emplace_back(keys[i], nodes[i]);
  return InOrderOfKeys(router, type, std::move(by_key), context);
}

}  // namespace

absl::StatusOr<FoundNodes> FindNodes(const ShardRouter& router, NodeTypeId type, Split split,
                                     const RowCondition& where, const CallContext& context) {
  VICINITY_ASSIGN_OR_RETURN(const RowCondition condition,
                            WithSplit(router.schema().node_types[type.value], split, where));
  const Book& book = router.book();
  std::vector<std::vector<FoundRows>> of_shards(book.num_shards());
  FanOut calls;
  for (int32_t s = 0; s < book.num_shards(); ++s) {
    ShardFind find;
    find.type = type;
    find.where = &condition;
    VICINITY_ASSIGN_OR_RETURN(find.count, CountRows(router, ShardId{s}, type, context));
    if (find.count == 0) continue;
    of_shards[s].resize(find.num_places());
    find.out = of_shards[s].data();
    router.shard(ShardId{s}).Ask(find, context, calls.Add());
  }
  VICINITY_RETURN_IF_ERROR(calls.Wait());
  FoundNodes found;
  std::vector<int64_t> nodes;
  for (int32_t s = 0; s < book.num_shards(); ++s) {
    for (const FoundRows& place : of_shards[s]) {
      found.num_read += place.num_read;
      for (const uint64_t row : place.rows) {
        nodes.push_back(book.NodeAt(type, {ShardId{s}, {static_cast<int64_t>(row)}}).value);
      }
    }
  }
  VICINITY_ASSIGN_OR_RETURN(found.nodes, InOrder(router, type, nodes, context));
  return found;
}

}  // namespace vicinity
