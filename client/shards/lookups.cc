#include "client/shards/lookups.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/shards/call_context.h"
#include "client/shards/fan_out.h"
#include "client/shards/keyed_nodes.h"
#include "client/shards/ragged_rows.h"
#include "proto/common/checksum.h"
#include "proto/common/status.h"
#include "sampler/owner_groups.h"

namespace vicinity {
namespace {

constexpr size_t kNamedInErrors = 10;

absl::Status CheckIdKind(const Schema& schema, NodeTypeId type, bool strings) {
  const NodeTypeSpec& spec = schema.node_types[type.value];
  if ((spec.id_kind == IdKind::kString) == strings) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the ids of node type ", spec.name, " are ", strings ? "integers" : "strings"));
}

// Rows [0, count) of one shard's column.
absl::Status FetchWhole(const ShardRouter& router, ShardId shard, NodeTypeId type, int32_t column,
                        int64_t count, const CallContext& context, char* out) {
  ShardRows rows;
  rows.type = type;
  rows.column = column;
  rows.row_bytes = router.RowBytes(type, column);
  rows.count = count;
  rows.out = out;
  if (rows.count == 0) return absl::OkStatus();
  FanOut calls;
  router.shard(shard).Ask(rows, context, calls.Add());
  return calls.Wait();
}

// Local rows of one shard whose split is `split`.
absl::StatusOr<std::vector<uint64_t>> RowsOfSplit(const ShardRouter& router, ShardId shard,
                                                  NodeTypeId type, Split split,
                                                  const CallContext& context) {
  const NodeTypeSpec& spec = router.schema().node_types[type.value];
  const int column = spec.FindColumn(spec.split_column);
  if (spec.split_column.empty() || column < 0) {
    return absl::NotFoundError(absl::StrCat("node type ", spec.name, " has no splits"));
  }
  VICINITY_ASSIGN_OR_RETURN(const int64_t count, CountRows(router, shard, type, context));
  std::vector<char> splits(count);
  VICINITY_RETURN_IF_ERROR(FetchWhole(router, shard, type, column, count, context, splits.data()));
  std::vector<uint64_t> rows;
  for (size_t row = 0; row < splits.size(); ++row) {
    if (static_cast<Split>(splits[row]) == split) rows.push_back(row);
  }
  return rows;
}

absl::Status AppendNodes(const ShardRouter& router, ShardId shard, NodeTypeId type, Split split,
                         const CallContext& context, std::vector<KeyedNode>* out) {
  const auto node_at = [&](uint64_t row) {
    return router.book().NodeAt(type, {shard, {static_cast<int64_t>(row)}}).value;
  };
  std::vector<uint64_t> keys;
  std::vector<uint64_t> rows;
  if (split == Split::kNone) {
    VICINITY_ASSIGN_OR_RETURN(const int64_t count, CountRows(router, shard, type, context));
    keys.resize(count);
    VICINITY_RETURN_IF_ERROR(FetchWhole(router, shard, type, kKeyColumn, count, context,
                                        reinterpret_cast<char*>(keys.data())));
    for (size_t row = 0; row < keys.size(); ++row) out->emplace_back(keys[row], node_at(row));
    return absl::OkStatus();
  }
  VICINITY_ASSIGN_OR_RETURN(rows, RowsOfSplit(router, shard, type, split, context));
  if (rows.empty()) return absl::OkStatus();
  keys.resize(rows.size());
  ShardRows request;
  request.type = type;
  request.column = kKeyColumn;
  request.row_bytes = sizeof(uint64_t);
  request.rows = rows;
  request.out = reinterpret_cast<char*>(keys.data());
  FanOut calls;
  router.shard(shard).Ask(request, context, calls.Add());
  VICINITY_RETURN_IF_ERROR(calls.Wait());
  for (size_t i = 0; i < keys.size(); ++i) out->emplace_back(keys[i], node_at(rows[i]));
  return absl::OkStatus();
}

absl::Status CheckShards(const ShardRouter& router, absl::Span<const int32_t> shards) {
  for (const int32_t shard : shards) {
    if (shard < 0 || shard >= router.book().num_shards()) {
      return absl::InvalidArgumentError(
          absl::StrCat("shard ", shard, " of ", router.book().num_shards()));
    }
  }
  return absl::OkStatus();
}

template <typename From, typename To>
std::vector<To> Widen(const std::vector<char>& bytes) {
  std::vector<To> values(bytes.size() / sizeof(From));
  for (size_t i = 0; i < values.size(); ++i) {
    From value;
    std::memcpy(&value, bytes.data() + i * sizeof(From), sizeof(From));
    values[i] = static_cast<To>(value);
  }
  return values;
}

bool IsInteger(DType dtype) { return dtype >= DType::kBool && dtype <= DType::kInt64; }

// Of a column of integers.
template <typename To>
std::vector<To> WidenIntegers(DType dtype, const std::vector<char>& bytes) {
  switch (dtype) {
    case DType::kBool:
    case DType::kUint8:
      return Widen<uint8_t, To>(bytes);
    case DType::kInt8:
      return Widen<int8_t, To>(bytes);
    case DType::kInt16:
      return Widen<int16_t, To>(bytes);
    case DType::kInt32:
      return Widen<int32_t, To>(bytes);
    default:
      return Widen<int64_t, To>(bytes);
  }
}

// InvalidArgument unless the column has one value a row; `number`: "integer", for people.
absl::StatusOr<std::vector<char>> FetchScalars(const ShardRouter& router, NodeTypeId type,
                                               int32_t column, absl::Span<const int64_t> nodes,
                                               const char* number, bool is_number) {
  const ColumnSpec& spec = router.schema().node_types[type.value].columns[column];
  if (!is_number || spec.num_values() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("column ", spec.name, " of ", std::string(DTypeName(spec.dtype)), " with ",
                     spec.num_values(), " values a row does not hold one ", number, " a row"));
  }
  std::vector<char> bytes(nodes.size() * spec.row_bytes());
  const ColumnFetch fetch{type, column, nodes, {}, bytes.data()};
  VICINITY_RETURN_IF_ERROR(router.FetchRows({fetch}, StartOperation()));
  return bytes;
}

}  // namespace

absl::Status CheckNodeType(const Schema& schema, int32_t node_type) {
  if (node_type >= 0 && node_type < static_cast<int32_t>(schema.node_types.size())) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("node type ", node_type, " of ", schema.node_types.size()));
}

absl::Status CheckNodes(const ShardRouter& router, NodeTypeId type,
                        absl::Span<const int64_t> nodes) {
  std::vector<int64_t> outside;
  for (const int64_t node : nodes) {
    if (router.book().Contains(type, GlobalNode{node})) continue;
    outside.push_back(node);
    if (outside.size() == kNamedInErrors) break;
  }
  if (outside.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "not among the ", router.book().num_nodes(type), " nodes of type ",
      router.schema().node_types[type.value].name, ": ", absl::StrJoin(outside, ", ")));
}

absl::StatusOr<std::vector<int64_t>> ResolveIntegers(const ShardRouter& router, NodeTypeId type,
                                                     absl::Span<const int64_t> user_ids,
                                                     const CallContext& context) {
  VICINITY_RETURN_IF_ERROR(CheckIdKind(router.schema(), type, false));
  const std::vector<uint64_t> keys(user_ids.begin(), user_ids.end());
  return ResolveKeys(router, type, keys, context);
}

absl::StatusOr<std::vector<int64_t>> ResolveNames(const ShardRouter& router, NodeTypeId type,
                                                  absl::Span<const std::string> user_ids) {
  VICINITY_RETURN_IF_ERROR(CheckIdKind(router.schema(), type, true));
  const uint64_t salt = router.schema().node_types[type.value].key_salt;
  std::vector<uint64_t> keys;
  keys.reserve(user_ids.size());
  for (const std::string& id : user_ids) keys.push_back(Checksum(id, salt));
  const CallContext context = StartOperation();
  VICINITY_ASSIGN_OR_RETURN(std::vector<int64_t> nodes, ResolveKeys(router, type, keys, context));

  // No two stored ids share a key, but an id that is not stored may share one with one that is.
  std::vector<int64_t> found;
  for (const int64_t node : nodes) {
    if (node >= 0) found.push_back(node);
  }
  std::vector<std::string> names(found.size());
  VICINITY_RETURN_IF_ERROR(
      FetchRaggedBytes(router, type, kNamesColumn, found, context, names.data()));
  size_t next = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i] >= 0 && names[next++] != user_ids[i]) nodes[i] = -1;
  }
  return nodes;
}

absl::StatusOr<std::vector<int64_t>> IntegersOf(const ShardRouter& router, NodeTypeId type,
                                                absl::Span<const int64_t> nodes) {
  VICINITY_RETURN_IF_ERROR(CheckIdKind(router.schema(), type, false));
  VICINITY_RETURN_IF_ERROR(CheckNodes(router, type, nodes));
  std::vector<int64_t> ids(nodes.size());
  const ColumnFetch fetch{type, kKeyColumn, nodes, {}, reinterpret_cast<char*>(ids.data())};
  VICINITY_RETURN_IF_ERROR(router.FetchRows({fetch}, StartOperation()));
  return ids;
}

absl::StatusOr<std::vector<std::string>> NamesOf(const ShardRouter& router, NodeTypeId type,
                                                 absl::Span<const int64_t> nodes) {
  VICINITY_RETURN_IF_ERROR(CheckIdKind(router.schema(), type, true));
  VICINITY_RETURN_IF_ERROR(CheckNodes(router, type, nodes));
  std::vector<std::string> names(nodes.size());
  VICINITY_RETURN_IF_ERROR(
      FetchRaggedBytes(router, type, kNamesColumn, nodes, StartOperation(), names.data()));
  return names;
}

absl::StatusOr<std::vector<int64_t>> NodesOfSplit(const ShardRouter& router, NodeTypeId type,
                                                  Split split, absl::Span<const int32_t> shards) {
  VICINITY_RETURN_IF_ERROR(CheckShards(router, shards));
  std::vector<int32_t> wanted(shards.begin(), shards.end());
  if (wanted.empty()) {
    wanted.resize(router.book().num_shards());
    std::iota(wanted.begin(), wanted.end(), 0);
  }
  const CallContext context = StartOperation();
  std::vector<KeyedNode> by_key;
  for (const int32_t shard : wanted) {
    VICINITY_RETURN_IF_ERROR(AppendNodes(router, ShardId{shard}, type, split, context, &by_key));
  }
  return InOrderOfKeys(router, type, std::move(by_key), context);
}

absl::StatusOr<RankedNodes> FetchRanking(const ShardRouter& router, const std::string& name,
                                         absl::Span<const int32_t> home, NodeTypeId type,
                                         int64_t count) {
  VICINITY_RETURN_IF_ERROR(CheckShards(router, home));
  const bool rising =
      std::adjacent_find(home.begin(), home.end(), std::greater_equal<int32_t>()) == home.end();
  if (home.empty() || !rising || count < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("a ranking of home {", absl::StrJoin(home, ", "), "}, ", count,
                     " nodes: a home is rising shard numbers, a count 0 or more"));
  }
  RankedNodes ranked;
  ShardRanking request;
  request.name = name;
  request.home.assign(home.begin(), home.end());
  request.type = type;
  request.count = count;
  request.out = &ranked;
  FanOut calls;
  router.shard(ShardId{home.front()}).Ask(request, StartOperation(), calls.Add());
  VICINITY_RETURN_IF_ERROR(calls.Wait());
  return ranked;
}

absl::StatusOr<std::vector<int64_t>> DegreesOf(const ShardRouter& router, EdgeTypeId edge_type,
                                               absl::Span<const int64_t> nodes) {
  const NodeTypeId type{router.schema().edge_types[edge_type.value].target_type};
  VICINITY_RETURN_IF_ERROR(CheckNodes(router, type, nodes));
  std::vector<int64_t> degrees(nodes.size());
  VICINITY_RETURN_IF_ERROR(
      router.FetchDegrees({{edge_type, nodes, degrees.data()}}, StartOperation()));
  return degrees;
}

absl::StatusOr<std::vector<int64_t>> EdgeIdsOf(const ShardRouter& router, EdgeTypeId edge_type,
                                               absl::Span<const int64_t> sources,
                                               absl::Span<const int64_t> targets,
                                               const CallContext& context) {
  const EdgeTypeSpec& spec = router.schema().edge_types[edge_type.value];
  if (sources.size() != targets.size()) {
    return absl::InvalidArgumentError(absl::StrCat(sources.size(), " sources and ", targets.size(),
                                                   " targets: a pair has one of each"));
  }
  VICINITY_RETURN_IF_ERROR(CheckNodes(router, NodeTypeId{spec.source_type}, sources));
  VICINITY_RETURN_IF_ERROR(CheckNodes(router, NodeTypeId{spec.target_type}, targets));
  const std::vector<OwnerGroup> groups =
      GroupByOwner(router.book(), NodeTypeId{spec.target_type}, targets);
  struct Pairs {
    std::vector<uint64_t> sources;
    std::vector<int64_t> positions;
  };
  std::vector<Pairs> pairs(groups.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    for (const uint32_t position : groups[g].positions) {
      pairs[g].sources.push_back(static_cast<uint64_t>(sources[position]));
      pairs[g].positions.push_back(position);
    }
  }
  std::vector<int64_t> edge_ids(targets.size());
  FanOut calls;
  for (size_t g = 0; g < groups.size(); ++g) {
    router.shard(groups[g].shard)
        .Ask(ShardEdgeIds{edge_type, pairs[g].sources, groups[g].rows, pairs[g].positions,
                          edge_ids.data()},
             context, calls.Add());
  }
  VICINITY_RETURN_IF_ERROR(calls.Wait());
  return edge_ids;
}

absl::StatusOr<std::vector<int64_t>> IntegerColumn(const ShardRouter& router, NodeTypeId type,
                                                   int32_t column,
                                                   absl::Span<const int64_t> nodes) {
  const DType dtype = router.schema().node_types[type.value].columns[column].dtype;
  VICINITY_ASSIGN_OR_RETURN(const std::vector<char> bytes,
                            FetchScalars(router, type, column, nodes, "integer", IsInteger(dtype)));
  return WidenIntegers<int64_t>(dtype, bytes);
}

absl::StatusOr<std::vector<double>> NumberColumn(const ShardRouter& router, NodeTypeId type,
                                                 int32_t column, absl::Span<const int64_t> nodes) {
  const DType dtype = router.schema().node_types[type.value].columns[column].dtype;
  const bool is_number = IsInteger(dtype) || dtype == DType::kFloat32 || dtype == DType::kFloat64;
  VICINITY_ASSIGN_OR_RETURN(
      const std::vector<char> bytes,
      FetchScalars(router, type, column, nodes, "integer, float32 or float64", is_number));
  if (dtype == DType::kFloat32) return Widen<float, double>(bytes);
  if (dtype == DType::kFloat64) return Widen<double, double>(bytes);
  return WidenIntegers<double>(dtype, bytes);
}

absl::StatusOr<int32_t> FindNodeColumn(const NodeTypeSpec& type, const std::string& column) {
  const int found = type.FindColumn(column);
  if (found >= 0) return found;
  std::string known;
  for (const ColumnSpec& each : type.columns) absl::StrAppend(&known, " ", each.name);
  return absl::NotFoundError(absl::StrCat("node type ", type.name, " has no column ", column,
                                          "; it has:", known.empty() ? " none" : known));
}

std::string UserIdText(const ShardRouter& router, NodeTypeId type, int64_t node) {
  if (router.schema().node_types[type.value].id_kind == IdKind::kString) {
    const absl::StatusOr<std::vector<std::string>> names = NamesOf(router, type, {node});
    if (names.ok()) return absl::StrCat("'", names->front(), "'");
  } else {
    const absl::StatusOr<std::vector<int64_t>> ids = IntegersOf(router, type, {node});
    if (ids.ok()) return absl::StrCat(ids->front());
  }
  return absl::StrCat(node, " (a global id)");
}

RoutedFinder::RoutedFinder(const ShardRouter& router, const CallContext& context)
    : router_(router), context_(context) {}

absl::Status RoutedFinder::FindEdges(EdgeTypeId edge_type, absl::Span<const int64_t> sources,
                                     absl::Span<const int64_t> targets, std::vector<bool>* joined) {
  VICINITY_ASSIGN_OR_RETURN(const std::vector<int64_t> edge_ids,
                            EdgeIdsOf(router_, edge_type, sources, targets, context_));
  joined->clear();
  joined->reserve(edge_ids.size());
  for (const int64_t edge_id : edge_ids) joined->push_back(edge_id >= 0);
  return absl::OkStatus();
}

}  // namespace vicinity
