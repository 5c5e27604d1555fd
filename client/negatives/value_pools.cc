#include "client/negatives/value_pools.h"

#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/shards/lookups.h"
#include "client/types/row_buffer.h"
#include "partition/schema/schema.h"
#include "proto/common/status.h"

namespace vicinity {

absl::StatusOr<ValuePools> ValuePools::Make(const ShardRouter& router, const CandidateNodes& all,
                                            const std::string& column, const CallContext& context) {
  const NodeTypeSpec& type = router.schema().node_types[all.type().value];
  ValuePools pools(router, all.type(), column);
  VICINITY_ASSIGN_OR_RETURN(pools.number_, FindNodeColumn(type, column));
  const ColumnSpec& spec = type.columns[pools.number_];
  if (spec.num_values() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("column ", column, " of ", type.name, " has ", spec.num_values(),
                     " values a row: negatives that share a value need one"));
  }
  if (all.listed().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("negatives that share a value are drawn from at most ",
                     CandidateNodes::kMostListed, " nodes, and ", type.name, " has ", all.size()));
  }
  VICINITY_ASSIGN_OR_RETURN(const std::vector<uint64_t> values,
                            pools.ValuesOf(all.listed(), context));
  absl::flat_hash_map<uint64_t, std::vector<int64_t>> places;
  for (size_t place = 0; place < values.size(); ++place) {
    places[values[place]].push_back(static_cast<int64_t>(place));
  }
  for (const auto& [value, of_value] : places) {
    CandidateNodes some = all.Some(of_value);
    if (some.can_draw()) pools.by_value_.emplace(value, std::move(some));
  }
  return pools;
}

absl::StatusOr<std::vector<const CandidateNodes*>> ValuePools::PoolsOf(
    absl::Span<const int64_t> nodes, const CallContext& context) const {
  VICINITY_ASSIGN_OR_RETURN(const std::vector<uint64_t> values, ValuesOf(nodes, context));
  std::vector<const CandidateNodes*> pools;
  for (const uint64_t value : values) {
    const auto found = by_value_.find(value);
    pools.push_back(found == by_value_.end() ? nullptr : &found->second);
  }
  return pools;
}

absl::StatusOr<std::vector<uint64_t>> ValuePools::ValuesOf(absl::Span<const int64_t> nodes,
                                                           const CallContext& context) const {
  const auto row_bytes = static_cast<size_t>(router_->RowBytes(type_, number_));
  RowBuffer rows(nodes.size() * row_bytes);
  const ColumnFetch fetch{type_, number_, nodes, {}, rows.data()};
  VICINITY_RETURN_IF_ERROR(router_->FetchRows({fetch}, context));
  std::vector<uint64_t> values(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    std::memcpy(&values[i], rows.data() + i * row_bytes, row_bytes);
  }
  return values;
}

}  // namespace vicinity
