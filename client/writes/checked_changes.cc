#include "client/writes/checked_changes.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "partition/schema/ragged_row.h"
#include "partition/writing/weight_table.h"
#include "proto/common/checksum.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr int64_t kIdBytes = 8;
constexpr int64_t kSizeBytes = 4;  // of a ragged row's length on the wire, about
constexpr uint64_t kMostRows = std::numeric_limits<uint32_t>::max();

absl::Status Wrong(const std::string& what) { return absl::InvalidArgumentError(what); }

template <typename Specs>
std::string NamesOf(const Specs& specs) {
  return specs.empty() ? "none"
                       : absl::StrJoin(specs, ", ", [](std::string* out, const auto& spec) {
                           absl::StrAppend(out, spec.name);
                         });
}

absl::StatusOr<int32_t> FindNodes(const Schema& schema, const std::string& name) {
  const int type = schema.FindNodeType(name);
  if (type >= 0) return type;
  return absl::NotFoundError(absl::StrCat("there is no node type \"", name,
                                          "\"; there are: ", NamesOf(schema.node_types)));
}

absl::StatusOr<int32_t> FindEdges(const Schema& schema, const std::string& name) {
  const int type = schema.FindEdgeType(name);
  if (type >= 0) return type;
  std::vector<std::string> names;
  for (size_t e = 0; e < schema.edge_types.size(); ++e) {
    names.push_back(schema.EdgeTypeName(static_cast<int>(e)));
  }
  return absl::NotFoundError(absl::StrCat("there is no edge type \"", name,
                                          "\"; there are: ", absl::StrJoin(names, ", ")));
}

absl::Status CheckNumber(const char* what, size_t number, int64_t num_rows) {
  if (number == static_cast<size_t>(num_rows)) return absl::OkStatus();
  return Wrong(absl::StrCat(number, " ", what, " for ", num_rows, " rows"));
}

absl::Status CheckDType(const std::string& column, DType given, DType stored) {
  if (given == stored) return absl::OkStatus();
  return Wrong(absl::StrCat("column \"", column, "\" is ", std::string(DTypeName(stored)),
                            ", and is given as ", std::string(DTypeName(given))));
}

absl::Status CheckColumn(const ColumnSpec& spec, const GivenColumn& given, int64_t num_rows) {
  VICINITY_RETURN_IF_ERROR(CheckDType(spec.name, given.dtype, spec.dtype));
  const int64_t wanted = num_rows * spec.row_bytes();
  if (static_cast<int64_t>(given.bytes.size()) == wanted) return absl::OkStatus();
  return Wrong(absl::StrCat("column \"", spec.name, "\" has ", given.bytes.size(), " bytes; ",
                            num_rows, " rows of ", spec.num_values(), " ",
                            std::string(DTypeName(spec.dtype)), " are ", wanted));
}

absl::Status CheckRagged(const RaggedSpec& spec, const GivenRagged& given, int64_t num_rows) {
  VICINITY_RETURN_IF_ERROR(CheckDType(spec.name, given.dtype, spec.dtype));
  const std::string column = absl::StrCat("column \"", spec.name, "\"");
  VICINITY_RETURN_IF_ERROR(At(column, CheckNumber("row_ends", given.row_ends.size(), num_rows)));
  int64_t before = 0;
  for (const int64_t end : given.row_ends) {
    if (end < before)
      return Wrong(absl::StrCat(column, ": row_ends fall from ", before, " to ", end));
    before = end;
  }
  const auto num_bytes = static_cast<int64_t>(given.values.size());
  // Divided, not multiplied: ends may be anything.
  if (num_bytes % DTypeBytes(spec.dtype) != 0 || num_bytes / DTypeBytes(spec.dtype) != before) {
    return Wrong(absl::StrCat(column, " has ", num_bytes, " bytes of values; row_ends tell of ",
                              before, " ", std::string(DTypeName(spec.dtype))));
  }
  const int64_t num_indices = spec.is_sparse() ? before : 0;
  if (static_cast<int64_t>(given.indices.size()) == num_indices) return absl::OkStatus();
  return Wrong(absl::StrCat(column, " has ", given.indices.size(), " indices; ",
                            spec.is_sparse() ? "a sparse column has one for each of "
                                             : "it is no sparse column, and has none for its ",
                            before, " values"));
}

// The columns of one part, given in any order.
template <typename Type>
class ColumnFinder {
 public:
  ColumnFinder(const Type& type, const std::string& type_name, CheckedPart* part)
      : type_(type), type_name_(type_name), part_(part) {}

  absl::Status Add(const std::vector<GivenColumn>& given) {
    for (const GivenColumn& column : given) {
      const int at = type_.FindColumn(column.name);
      if (at < 0) return Unknown(column.name);
      VICINITY_RETURN_IF_ERROR(CheckColumn(type_.columns[at], column, part_->num_rows));
      part_->columns.push_back({at, &type_.columns[at], column.bytes.data(), false});
    }
    return InOrder("column", &part_->columns);
  }

  absl::Status AddRagged(const std::vector<GivenRagged>& given) {
    for (const GivenRagged& column : given) {
      const int at = type_.FindRagged(column.name);
      if (at < 0) return Unknown(column.name);
      VICINITY_RETURN_IF_ERROR(CheckRagged(type_.ragged[at], column, part_->num_rows));
      part_->ragged.push_back({at, &type_.ragged[at], &column});
    }
    return InOrder("column", &part_->ragged);
  }

 private:
  absl::Status Unknown(const std::string& name) const {
    return absl::NotFoundError(absl::StrCat(type_name_, " has no column \"", name,
                                            "\"; it has: ", NamesOf(type_.columns)));
  }

  template <typename Columns>
  absl::Status InOrder(const char* what, Columns* columns) const {
    std::sort(columns->begin(), columns->end(),
              [](const auto& a, const auto& b) { return a.column < b.column; });
    for (size_t i = 1; i < columns->size(); ++i) {
      if ((*columns)[i].column != (*columns)[i - 1].column) continue;
      return Wrong(absl::StrCat(what, " \"", (*columns)[i].spec->name, "\" is given twice"));
    }
    return absl::OkStatus();
  }

  const Type& type_;
  const std::string type_name_;
  CheckedPart* const part_;
};

template <typename Specs, typename Columns>
absl::Status CheckAllGiven(const Specs& specs, const Columns& columns) {
  for (size_t c = 0; c < specs.size(); ++c) {
    if (c < columns.size() && columns[c].column == static_cast<int32_t>(c)) continue;
    return Wrong(absl::StrCat("column \"", specs[c].name,
                              "\" is not given; what is new needs all: ", NamesOf(specs)));
  }
  return absl::OkStatus();
}

// One part of each kind; `part` has kind and position already.
class PartChecker {
 public:
  PartChecker(const Schema& schema, CheckedPart* part) : schema_(schema), part_(*part) {}

  absl::Status Check(const NewNodes& nodes) {
    VICINITY_ASSIGN_OR_RETURN(const NodeTypeSpec* const type, SetNodeType(nodes.node_type));
    const bool has_names = type->id_kind == IdKind::kString;
    if (has_names ? !nodes.ids.empty() : !nodes.names.empty()) {
      return Wrong(absl::StrCat("the ids of type \"", type->name, "\" are ",
                                has_names ? "strings: give names" : "integers: give ids"));
    }
    part_.num_rows = static_cast<int64_t>(has_names ? nodes.names.size() : nodes.ids.size());
    part_.nodes = nodes.ids;
    part_.names = nodes.names;
    VICINITY_RETURN_IF_ERROR(SetColumns(*type, nodes.columns, nodes.ragged));
    VICINITY_RETURN_IF_ERROR(CheckAllGiven(type->columns, part_.columns));
    return CheckAllGiven(type->ragged, part_.ragged);
  }

  absl::Status Check(const NodeValues& values) {
    VICINITY_ASSIGN_OR_RETURN(const NodeTypeSpec* const type, SetNodeType(values.node_type));
    part_.num_rows = static_cast<int64_t>(values.nodes.size());
    part_.nodes = values.nodes;
    VICINITY_RETURN_IF_ERROR(SetColumns(*type, values.columns, values.ragged));
    if (!part_.columns.empty() || !part_.ragged.empty()) return absl::OkStatus();
    return Wrong("no column is given");
  }

  absl::Status Check(const RemovedNodes& nodes) {
    part_.num_rows = static_cast<int64_t>(nodes.nodes.size());
    part_.nodes = nodes.nodes;
    return SetNodeType(nodes.node_type).status();
  }

  absl::Status Check(const NewEdges& edges) {
    VICINITY_ASSIGN_OR_RETURN(const EdgeTypeSpec* const type,
                              SetEdgeType(edges.edge_type, edges.targets));
    VICINITY_RETURN_IF_ERROR(CheckNumber("sources", edges.sources.size(), part_.num_rows));
    part_.sources = edges.sources;
    VICINITY_RETURN_IF_ERROR(SetColumns(*type, edges.columns));
    return CheckAllGiven(type->columns, part_.columns);
  }

  absl::Status Check(const EdgeValues& edges) {
    VICINITY_ASSIGN_OR_RETURN(const EdgeTypeSpec* const type,
                              SetEdgeType(edges.edge_type, edges.targets));
    VICINITY_RETURN_IF_ERROR(SetEdgeIds(edges.edge_ids));
    VICINITY_RETURN_IF_ERROR(SetColumns(*type, edges.columns));
    return part_.columns.empty() ? Wrong("no column is given") : absl::OkStatus();
  }

  absl::Status Check(const RemovedEdges& edges) {
    VICINITY_RETURN_IF_ERROR(SetEdgeType(edges.edge_type, edges.targets).status());
    return SetEdgeIds(edges.edge_ids);
  }

 private:
  absl::StatusOr<const NodeTypeSpec*> SetNodeType(const std::string& name) {
    VICINITY_ASSIGN_OR_RETURN(part_.type, FindNodes(schema_, name));
    return &schema_.node_types[part_.type];
  }
  absl::StatusOr<const EdgeTypeSpec*> SetEdgeType(const std::string& name,
                                                  const std::vector<int64_t>& targets) {
    VICINITY_ASSIGN_OR_RETURN(part_.type, FindEdges(schema_, name));
    part_.num_rows = static_cast<int64_t>(targets.size());
    part_.nodes = targets;
    return &schema_.edge_types[part_.type];
  }
  absl::Status SetEdgeIds(const std::vector<int64_t>& edge_ids) {
    part_.edge_ids = edge_ids;
    return CheckNumber("edge_ids", edge_ids.size(), part_.num_rows);
  }
  absl::Status SetColumns(const NodeTypeSpec& type, const std::vector<GivenColumn>& columns,
                          const std::vector<GivenRagged>& ragged) {
    ColumnFinder<NodeTypeSpec> finder(type, absl::StrCat("node type \"", type.name, "\""), &part_);
    VICINITY_RETURN_IF_ERROR(finder.Add(columns));
    return finder.AddRagged(ragged);
  }
  absl::Status SetColumns(const EdgeTypeSpec& type, const std::vector<GivenColumn>& columns) {
    const std::string name = absl::StrCat("edge type \"", schema_.EdgeTypeName(part_.type), "\"");
    VICINITY_RETURN_IF_ERROR(ColumnFinder<EdgeTypeSpec>(type, name, &part_).Add(columns));
    for (CheckedPart::Column& column : part_.columns) {
      column.is_weight = column.spec->name == type.weight_column;
    }
    return absl::OkStatus();
  }

  const Schema& schema_;
  CheckedPart& part_;
};

template <typename Parts>
absl::Status CheckList(const Schema& schema, ChangeKind kind, const Parts& list,
                       std::vector<CheckedPart>* out) {
  for (size_t i = 0; i < list.size(); ++i) {
    CheckedPart part;
    part.kind = kind;
    part.part = static_cast<int32_t>(i);
    absl::Status status = PartChecker(schema, &part).Check(list[i]);
    if (status.ok() && static_cast<uint64_t>(part.num_rows) > kMostRows) {
      status = Wrong(absl::StrCat(part.num_rows, " rows; a part has ", kMostRows, " at most"));
    }
    if (!status.ok()) return At(absl::StrCat(ListNameOf(kind), "[", i, "]"), status);
    out->push_back(std::move(part));
  }
  return absl::OkStatus();
}

}  // namespace

bool IsOfEdges(ChangeKind kind) {
  return kind == ChangeKind::kNewEdges || kind == ChangeKind::kEdgeValues ||
         kind == ChangeKind::kRemovedEdges;
}

const char* ListNameOf(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kNewNodes:
      return "new_nodes";
    case ChangeKind::kNewEdges:
      return "new_edges";
    case ChangeKind::kNodeValues:
      return "node_values";
    case ChangeKind::kEdgeValues:
      return "edge_values";
    case ChangeKind::kRemovedEdges:
      return "removed_edges";
    case ChangeKind::kRemovedNodes:
      return "removed_nodes";
  }
  return "";
}

absl::StatusOr<CheckedChanges> CheckedChanges::Check(const Schema& schema, const Book& book,
                                                     const GraphChanges& changes) {
  CheckedChanges checked(schema, book);
  std::vector<CheckedPart>* const parts = &checked.parts_;
  VICINITY_RETURN_IF_ERROR(CheckList(schema, ChangeKind::kNewNodes, changes.new_nodes, parts));
  VICINITY_RETURN_IF_ERROR(CheckList(schema, ChangeKind::kNewEdges, changes.new_edges, parts));
  VICINITY_RETURN_IF_ERROR(CheckList(schema, ChangeKind::kNodeValues, changes.node_values, parts));
  VICINITY_RETURN_IF_ERROR(CheckList(schema, ChangeKind::kEdgeValues, changes.edge_values, parts));
  VICINITY_RETURN_IF_ERROR(
      CheckList(schema, ChangeKind::kRemovedEdges, changes.removed_edges, parts));
  VICINITY_RETURN_IF_ERROR(
      CheckList(schema, ChangeKind::kRemovedNodes, changes.removed_nodes, parts));
  return checked;
}

absl::Status CheckedChanges::NodeFault(NodeTypeId type, int64_t node) const {
  if (book_.Contains(type, GlobalNode{node})) return absl::OkStatus();
  return Wrong(
      absl::StrCat(node, " is no global id of type \"", schema_.node_types[type.value].name, "\""));
}

absl::Status CheckedChanges::RowFault(const CheckedPart& part, int64_t row) const {
  if (part.kind != ChangeKind::kNewNodes) {
    VICINITY_RETURN_IF_ERROR(NodeFault(NodeTypeOf(part), part.nodes[row]));
  } else if (schema_.node_types[part.type].id_kind == IdKind::kDense && part.nodes[row] < 0) {
    return Wrong(absl::StrCat("id ", part.nodes[row], "; those of type \"",
                              schema_.node_types[part.type].name, "\" count from 0"));
  }
  if (part.kind == ChangeKind::kNewEdges) {
    const NodeTypeId type{schema_.edge_types[part.type].source_type};
    VICINITY_RETURN_IF_ERROR(NodeFault(type, part.sources[row]));
  }
  return ValueFault(part, row);
}

absl::Status CheckedChanges::ValueFault(const CheckedPart& part, int64_t row) const {
  for (const CheckedPart::Column& column : part.columns) {
    if (!column.is_weight) continue;
    const double weight =
        LoadWeight(column.spec->dtype, column.rows + row * column.spec->row_bytes());
    if (IsWeight(weight)) continue;
    return Wrong(absl::StrCat("weight ", weight, "; weights must be finite and not below 0"));
  }
  for (const CheckedPart::Ragged& column : part.ragged) {
    if (!column.spec->is_sparse()) continue;  // others are of whole values, whatever they are
    const std::string fault = RaggedRowFault(*column.spec, RaggedRowOf(column, row));
    if (!fault.empty()) {
      return Wrong(absl::StrCat("the row of column \"", column.spec->name, "\" ", fault));
    }
  }
  return absl::OkStatus();
}

NodeTypeId CheckedChanges::NodeTypeOf(const CheckedPart& part) const {
  return {IsOfEdges(part.kind) ? schema_.edge_types[part.type].target_type : part.type};
}

ShardId CheckedChanges::OwnerOf(const CheckedPart& part, int64_t row) const {
  if (part.kind == ChangeKind::kNewNodes) return book_.DirectoryShard(KeyOf(part, row));
  return book_.OwnerOf(NodeTypeOf(part), GlobalNode{part.nodes[row]});
}

uint64_t CheckedChanges::KeyOf(const CheckedPart& part, int64_t row) const {
  const NodeTypeSpec& type = schema_.node_types[part.type];
  if (type.id_kind == IdKind::kString) return Checksum(part.names[row], type.key_salt);
  return static_cast<uint64_t>(part.nodes[row]);
}

int64_t CheckedChanges::RowBytes(const CheckedPart& part, int64_t row) const {
  int64_t bytes = 2 * kIdBytes;
  for (const CheckedPart::Column& column : part.columns) bytes += column.spec->row_bytes();
  for (const CheckedPart::Ragged& column : part.ragged) {
    const std::vector<int64_t>& ends = column.given->row_ends;
    const int64_t count = ends[row] - (row == 0 ? 0 : ends[row - 1]);
    bytes += count * column.spec->item_bytes() + kSizeBytes;
  }
  if (!part.names.empty()) bytes += static_cast<int64_t>(part.names[row].size()) + kSizeBytes;
  // Each column of values repeats whose they are.
  if (part.kind == ChangeKind::kNodeValues || part.kind == ChangeKind::kEdgeValues) {
    bytes += static_cast<int64_t>(part.columns.size() + part.ragged.size()) * 2 * kIdBytes;
  }
  return bytes;
}

std::string RaggedRowOf(const CheckedPart::Ragged& column, int64_t row) {
  const GivenRagged& given = *column.given;
  const int64_t begin = row == 0 ? 0 : given.row_ends[row - 1];
  const int64_t count = given.row_ends[row] - begin;
  std::string bytes;
  bytes.reserve(count * column.spec->item_bytes());
  if (column.spec->is_sparse()) {
    bytes.append(reinterpret_cast<const char*>(given.indices.data() + begin),
                 count * sizeof(int32_t));
  }
  const int64_t width = DTypeBytes(column.spec->dtype);
  bytes.append(given.values.data() + begin * width, count * width);
  return bytes;
}

}  // namespace vicinity
