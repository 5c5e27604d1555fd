#include "client/planning/seed_times.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "partition/dataset/base_views.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/shard_reader.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

absl::StatusOr<int32_t> FindTimes(absl::Span<const ColumnSpec> columns, const std::string& name,
                                  const std::string& owner) {
  std::string known;
  for (size_t column = 0; column < columns.size(); ++column) {
    if (!HoldsTimes(columns[column])) continue;
    if (columns[column].name == name) return static_cast<int32_t>(column);
    absl::StrAppend(&known, " ", columns[column].name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("seeds' times: ", owner, " has no column ", name,
                   " of one int64 a row; it has:", known.empty() ? " none" : known));
}

absl::Status Append(const ShardReader& reader, const ShardColumn& column, int64_t count,
                    std::vector<int64_t>* times) {
  const auto before = static_cast<int64_t>(times->size());
  times->resize(before + count);
  if (count == 0) return absl::OkStatus();
  return reader.ReadRange(column, 0, count, [&](const char* rows) {
    std::memcpy(times->data() + before, rows, count * sizeof(int64_t));
  });
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> TimesOfNodes(const Dataset& dataset, NodeTypeId type,
                                                  const std::string& column) {
  const NodeTypeSpec& spec = dataset.schema().node_types[type.value];
  VICINITY_ASSIGN_OR_RETURN(const int32_t found,
                            FindTimes(spec.columns, column, absl::StrCat("node type ", spec.name)));
  std::vector<int64_t> times;
  for (const std::unique_ptr<Shard>& shard : dataset.shards()) {
    const ShardReader reader(*shard);
    VICINITY_RETURN_IF_ERROR(
        Append(reader, reader.NodeColumn(type, found), reader.num_nodes(type), &times));
  }
  return times;
}

absl::StatusOr<std::vector<int64_t>> TimesOfLinks(const Dataset& dataset, EdgeTypeId type,
                                                  const std::string& column,
                                                  absl::Span<const int32_t> shards) {
  VICINITY_ASSIGN_OR_RETURN(
      const int32_t found,
      FindTimes(dataset.schema().edge_types[type.value].columns, column,
                absl::StrCat("edge type ", dataset.schema().EdgeTypeName(type.value))));
  std::vector<int64_t> times;
  for (const std::unique_ptr<Shard>& shard : dataset.shards()) {
    if (std::find(shards.begin(), shards.end(), shard->id().value) == shards.end()) continue;
    const BaseLists edges(*shard, type);
    if (edges.num_targets() <= 0) continue;
    const ShardReader reader(*shard);
    VICINITY_RETURN_IF_ERROR(
        Append(reader, reader.EdgeColumn(type, found), edges.begin(edges.num_targets()), &times));
  }
  return times;
}

}  // namespace vicinity
