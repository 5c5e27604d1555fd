#include "partition/overlay/batch_check.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "partition/schema/ragged_row.h"
#include "partition/writing/weight_table.h"
#include "proto/common/checksum.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

absl::Status Wrong(const std::string& what) { return absl::InvalidArgumentError(what); }

absl::Status CheckType(const char* kind, int32_t type, size_t num_types) {
  if (type >= 0 && static_cast<size_t>(type) < num_types) return absl::OkStatus();
  return Wrong(absl::StrCat("there is no ", kind, " type ", type, " among ", num_types));
}

absl::Status CheckColumn(int32_t column, size_t num_columns) {
  if (column >= 0 && static_cast<size_t>(column) < num_columns) return absl::OkStatus();
  return Wrong(absl::StrCat("there is no column ", column, " among ", num_columns));
}

absl::Status CheckNumber(const char* what, int64_t number, int64_t wanted) {
  if (number == wanted) return absl::OkStatus();
  return Wrong(absl::StrCat(number, " ", what, " where there should be ", wanted));
}

absl::Status CheckValues(const ColumnSpec& column, const proto::ColumnValues& values,
                         int64_t count) {
  const auto bytes = static_cast<int64_t>(values.rows().size());
  if (bytes == count * column.row_bytes()) return absl::OkStatus();
  return Wrong(absl::StrCat("column \"", column.name, "\" has ", bytes, " bytes for ", count,
                            " rows of ", column.row_bytes()));
}

// Calls check(i, row) for each row.
template <typename Check>
absl::Status CheckRagged(const std::string& name, const proto::RaggedValues& values, int64_t count,
                         const Check& check) {
  if (values.sizes_size() != count) {
    return Wrong(
        absl::StrCat("column \"", name, "\" has ", values.sizes_size(), " rows for ", count));
  }
  const std::string_view bytes = values.rows();
  uint64_t at = 0;
  for (int i = 0; i < values.sizes_size(); ++i) {
    const uint64_t size = values.sizes(i);
    if (size > bytes.size() - at) {
      return Wrong(absl::StrCat("column \"", name, "\" has ", bytes.size(),
                                " bytes, and its rows up to ", i, " need ", at + size));
    }
    VICINITY_RETURN_IF_ERROR(check(i, bytes.substr(at, size)));
    at += size;
  }
  return CheckNumber("bytes of ragged rows", static_cast<int64_t>(bytes.size()),
                     static_cast<int64_t>(at));
}

absl::Status CheckRaggedColumn(const RaggedSpec& spec, const proto::RaggedValues& values,
                               int64_t count) {
  return CheckRagged(spec.name, values, count, [&](int i, std::string_view row) {
    const std::string fault = RaggedRowFault(spec, row);
    if (fault.empty()) return absl::OkStatus();
    return Wrong(absl::StrCat("row ", i, " of column \"", spec.name, "\" ", fault));
  });
}

absl::Status CheckNodes(const LiveBase& base, int32_t type,
                        const google::protobuf::RepeatedField<uint64_t>& nodes) {
  for (int i = 0; i < nodes.size(); ++i) {
    if (base.RowOf(type, nodes.Get(i)) >= 0) continue;
    return Wrong(absl::StrCat("node ", nodes.Get(i), " of type \"",
                              base.schema.node_types[type].name, "\" (position ", i,
                              ") is not of shard ", base.shard.id().value));
  }
  return absl::OkStatus();
}

absl::Status CheckKeys(const LiveBase& base, int32_t type,
                       const google::protobuf::RepeatedField<uint64_t>& keys) {
  absl::flat_hash_set<uint64_t> seen;
  for (int i = 0; i < keys.size(); ++i) {
    const ShardId lists = base.book.DirectoryShard(keys.Get(i));
    const std::string_view name = base.schema.node_types[type].name;
    if (!(lists == base.shard.id())) {
      return Wrong(absl::StrCat("key ", keys.Get(i), " of type \"", std::string(name),
                                "\" (position ", i, ") is listed by shard ", lists.value,
                                ", not by shard ", base.shard.id().value));
    }
    if (!seen.insert(keys.Get(i)).second) {
      return Wrong(
          absl::StrCat("key ", keys.Get(i), " of type \"", std::string(name), "\" comes twice"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckNames(const NodeTypeSpec& type, const proto::NewNodes& nodes) {
  if (type.id_kind != IdKind::kString) {
    if (!nodes.has_names()) return absl::OkStatus();
    return Wrong(absl::StrCat("nodes of type \"", type.name, "\" have no names"));
  }
  return CheckRagged("names", nodes.names(), nodes.keys_size(), [&](int i, std::string_view name) {
    const uint64_t key = Checksum(name, type.key_salt);
    if (key == nodes.keys(i)) return absl::OkStatus();
    return Wrong(absl::StrCat("node \"", std::string(name), "\" of type \"", type.name,
                              "\" has key ", key, ", not ", nodes.keys(i)));
  });
}

absl::Status CheckPart(const LiveBase& base, const proto::NewNodes& nodes) {
  VICINITY_RETURN_IF_ERROR(CheckType("node", nodes.node_type(), base.schema.node_types.size()));
  const NodeTypeSpec& type = base.schema.node_types[nodes.node_type()];
  const int64_t count = nodes.keys_size();
  VICINITY_RETURN_IF_ERROR(CheckKeys(base, nodes.node_type(), nodes.keys()));
  VICINITY_RETURN_IF_ERROR(
      CheckNumber("columns", nodes.columns_size(), static_cast<int64_t>(type.columns.size())));
  VICINITY_RETURN_IF_ERROR(
      CheckNumber("ragged columns", nodes.ragged_size(), static_cast<int64_t>(type.ragged.size())));
  for (size_t c = 0; c < type.columns.size(); ++c) {
    VICINITY_RETURN_IF_ERROR(
        CheckValues(type.columns[c], nodes.columns(static_cast<int>(c)), count));
  }
  for (size_t c = 0; c < type.ragged.size(); ++c) {
    VICINITY_RETURN_IF_ERROR(
        CheckRaggedColumn(type.ragged[c], nodes.ragged(static_cast<int>(c)), count));
  }
  return CheckNames(type, nodes);
}

absl::Status CheckPart(const LiveBase& base, const proto::NodeRows& rows) {
  VICINITY_RETURN_IF_ERROR(CheckType("node", rows.node_type(), base.schema.node_types.size()));
  const NodeTypeSpec& type = base.schema.node_types[rows.node_type()];
  VICINITY_RETURN_IF_ERROR(CheckColumn(rows.column(), type.columns.size()));
  VICINITY_RETURN_IF_ERROR(CheckNodes(base, rows.node_type(), rows.nodes()));
  return CheckValues(type.columns[rows.column()], rows.values(), rows.nodes_size());
}

absl::Status CheckPart(const LiveBase& base, const proto::NodeRaggedRows& rows) {
  VICINITY_RETURN_IF_ERROR(CheckType("node", rows.node_type(), base.schema.node_types.size()));
  const NodeTypeSpec& type = base.schema.node_types[rows.node_type()];
  VICINITY_RETURN_IF_ERROR(CheckColumn(rows.column(), type.ragged.size()));
  VICINITY_RETURN_IF_ERROR(CheckNodes(base, rows.node_type(), rows.nodes()));
  return CheckRaggedColumn(type.ragged[rows.column()], rows.values(), rows.nodes_size());
}

absl::Status CheckWeights(const ColumnSpec& column, const proto::ColumnValues& values) {
  const int64_t bytes = column.row_bytes();
  for (size_t at = 0; at < values.rows().size(); at += bytes) {
    const double weight = LoadWeight(column.dtype, values.rows().data() + at);
    if (IsWeight(weight)) continue;
    return Wrong(absl::StrCat("edge ", static_cast<int64_t>(at) / bytes, " has weight ", weight,
                              "; weights must be finite and not below 0"));
  }
  return absl::OkStatus();
}

absl::Status CheckEdgeValues(const EdgeTypeSpec& type, int32_t column,
                             const proto::ColumnValues& values, int64_t count) {
  const ColumnSpec& spec = type.columns[column];
  VICINITY_RETURN_IF_ERROR(CheckValues(spec, values, count));
  return spec.name == type.weight_column ? CheckWeights(spec, values) : absl::OkStatus();
}

absl::Status CheckPart(const LiveBase& base, const proto::NewEdges& edges) {
  VICINITY_RETURN_IF_ERROR(CheckType("edge", edges.edge_type(), base.schema.edge_types.size()));
  const EdgeTypeSpec& type = base.schema.edge_types[edges.edge_type()];
  const int64_t count = edges.targets_size();
  VICINITY_RETURN_IF_ERROR(CheckNumber("sources", edges.sources_size(), count));
  VICINITY_RETURN_IF_ERROR(CheckNodes(base, type.target_type, edges.targets()));
  const auto limit =
      static_cast<uint64_t>(base.book.grows() ? base.book.id_limit({type.source_type}) : kMaxNodes);
  for (int i = 0; i < edges.sources_size(); ++i) {
    if (edges.sources(i) < limit) continue;
    return Wrong(absl::StrCat("source ", edges.sources(i), " (position ", i,
                              ") is no node's id: they are below ", limit));
  }
  VICINITY_RETURN_IF_ERROR(
      CheckNumber("columns", edges.columns_size(), static_cast<int64_t>(type.columns.size())));
  for (int c = 0; c < edges.columns_size(); ++c) {
    VICINITY_RETURN_IF_ERROR(CheckEdgeValues(type, c, edges.columns(c), count));
  }
  return absl::OkStatus();
}

absl::Status CheckPart(const LiveBase& base, const proto::EdgeNames& edges) {
  VICINITY_RETURN_IF_ERROR(CheckType("edge", edges.edge_type(), base.schema.edge_types.size()));
  VICINITY_RETURN_IF_ERROR(CheckNumber("edge ids", edges.edge_ids_size(), edges.targets_size()));
  if (edges.positions_size() > 0) return Wrong("positions of edges are not a writer's to tell");
  return CheckNodes(base, base.schema.edge_types[edges.edge_type()].target_type, edges.targets());
}

absl::Status CheckPart(const LiveBase& base, const proto::EdgeRows& rows) {
  VICINITY_RETURN_IF_ERROR(CheckPart(base, rows.edges()));
  const EdgeTypeSpec& type = base.schema.edge_types[rows.edges().edge_type()];
  VICINITY_RETURN_IF_ERROR(CheckColumn(rows.column(), type.columns.size()));
  return CheckEdgeValues(type, rows.column(), rows.values(), rows.edges().targets_size());
}

absl::Status CheckPart(const LiveBase& base, const proto::GoneNodes& nodes) {
  VICINITY_RETURN_IF_ERROR(CheckType("node", nodes.node_type(), base.schema.node_types.size()));
  return CheckNodes(base, nodes.node_type(), nodes.nodes());
}

absl::Status CheckPart(const LiveBase& base, const proto::GoneKeys& keys) {
  VICINITY_RETURN_IF_ERROR(CheckType("node", keys.node_type(), base.schema.node_types.size()));
  return CheckKeys(base, keys.node_type(), keys.keys());
}

template <typename Parts>
absl::Status CheckParts(const LiveBase& base, const char* field, const Parts& parts) {
  for (int i = 0; i < parts.size(); ++i) {
    const absl::Status status = CheckPart(base, parts.Get(i));
    if (!status.ok()) return At(absl::StrCat(field, "[", i, "]"), status);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckBatch(const LiveBase& base, const proto::WriteBatch& batch) {
  if (batch.ByteSizeLong() == 0) return Wrong("the batch is empty");
  VICINITY_RETURN_IF_ERROR(CheckParts(base, "new_nodes", batch.new_nodes()));
  VICINITY_RETURN_IF_ERROR(CheckParts(base, "new_edges", batch.new_edges()));
  VICINITY_RETURN_IF_ERROR(CheckParts(base, "node_rows", batch.node_rows()));
  VICINITY_RETURN_IF_ERROR(CheckParts(base, "node_ragged_rows", batch.node_ragged_rows()));
  VICINITY_RETURN_IF_ERROR(CheckParts(base, "edge_rows", batch.edge_rows()));
  VICINITY_RETURN_IF_ERROR(CheckParts(base, "gone_edges", batch.gone_edges()));
  VICINITY_RETURN_IF_ERROR(CheckParts(base, "gone_nodes", batch.gone_nodes()));
  return CheckParts(base, "gone_keys", batch.gone_keys());
}

absl::Status CheckSession(const proto::WriteSession& session) {
  constexpr size_t kMostBytes = 64;
  if (!session.id().empty() && session.id().size() <= kMostBytes) return absl::OkStatus();
  return Wrong(absl::StrCat("the session's id has ", session.id().size(),
                            " bytes; it must have 1 to ", kMostBytes));
}

}  // namespace vicinity
