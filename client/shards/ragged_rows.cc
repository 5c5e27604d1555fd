#include "client/shards/ragged_rows.h"

#include <cstddef>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "client/shards/fan_out.h"
#include "client/shards/shard_access.h"
#include "partition/schema/ragged_row.h"
#include "proto/common/status.h"
#include "sampler/owner_groups.h"

namespace vicinity {

absl::StatusOr<int32_t> FindRaggedColumn(const NodeTypeSpec& type, const std::string& column) {
  const int found = type.FindRagged(column);
  if (found >= 0) return found;
  std::string known;
  for (const RaggedSpec& each : type.ragged) absl::StrAppend(&known, " ", each.name);
  return absl::NotFoundError(absl::StrCat("node type ", type.name, " has no ragged column ", column,
                                          "; it has:", known.empty() ? " none" : known));
}

absl::Status FetchRaggedBytes(const ShardRouter& router, NodeTypeId type, int32_t column,
                              absl::Span<const int64_t> nodes, const CallContext& context,
                              std::string* out) {
  const std::vector<OwnerGroup> groups = GroupByOwner(router.book(), type, nodes);
  std::vector<std::vector<int64_t>> positions;
  for (const OwnerGroup& group : groups) {
    positions.emplace_back(group.positions.begin(), group.positions.end());
  }
  FanOut calls;
  for (size_t g = 0; g < groups.size(); ++g) {
    router.shard(groups[g].shard)
        .Ask(ShardRagged{type, column, groups[g].rows, positions[g], out}, context, calls.Add());
  }
  return calls.Wait();
}

absl::StatusOr<RaggedRows> JoinRaggedRows(const RaggedSpec& spec,
                                          absl::Span<const std::string_view> rows) {
  RaggedRows joined;
  joined.spec = spec;
  joined.row_ends.reserve(rows.size());
  const int64_t value_bytes = DTypeBytes(spec.dtype);
  int64_t num_values = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string fault = RaggedRowFault(spec, rows[i]);
    if (!fault.empty()) {
      return absl::DataLossError(absl::StrCat("column ", spec.name, ": row ", i, " ", fault));
    }
    num_values += static_cast<int64_t>(rows[i].size()) / spec.item_bytes();
    joined.row_ends.push_back(num_values);
  }
  joined.values.resize(num_values * value_bytes);
  if (spec.is_sparse()) joined.indices.resize(num_values);
  int64_t at = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const int64_t count = joined.row_ends[i] - at;
    const size_t index_bytes = spec.is_sparse() ? count * sizeof(int32_t) : 0;
    if (index_bytes > 0) std::memcpy(&joined.indices[at], rows[i].data(), index_bytes);
    if (count > 0) {
      std::memcpy(&joined.values[at * value_bytes], rows[i].data() + index_bytes,
                  count * value_bytes);
    }
    at = joined.row_ends[i];
  }
  return joined;
}

absl::StatusOr<RaggedRows> FetchRaggedRows(const ShardRouter& router, NodeTypeId type,
                                           int32_t column, absl::Span<const int64_t> nodes,
                                           const CallContext& context) {
  std::vector<std::string> rows(nodes.size());
  VICINITY_RETURN_IF_ERROR(FetchRaggedBytes(router, type, column, nodes, context, rows.data()));
  const std::vector<std::string_view> views(rows.begin(), rows.end());
  return JoinRaggedRows(router.schema().node_types[type.value].ragged[column], views);
}

}  // namespace vicinity
