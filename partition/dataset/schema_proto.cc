#include "partition/dataset/schema_proto.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

using Columns = google::protobuf::RepeatedPtrField<proto::Column>;

absl::Status CheckCount(size_t count, size_t limit, const char* what) {
  if (count <= limit) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(count, " ", what, ", at most ", limit));
}

absl::StatusOr<ColumnSpec> ColumnFromProto(const proto::Column& stored) {
  VICINITY_RETURN_IF_ERROR(CheckName(stored.name()));
  if (!proto::DType_IsValid(stored.dtype()) || stored.dtype() == proto::DTYPE_UNSPECIFIED) {
    return absl::InvalidArgumentError(
        absl::StrCat("column ", stored.name(), ": unknown dtype ", stored.dtype()));
  }
  ColumnSpec column;
  column.name = stored.name();
  column.dtype = static_cast<DType>(stored.dtype());
  column.shape.assign(stored.shape().begin(), stored.shape().end());
  const absl::Status shape = CheckShape(column.dtype, column.shape);
  if (!shape.ok()) return At(absl::StrCat("column ", column.name), shape);
  column.of_source = stored.of_source();
  return column;
}

absl::StatusOr<std::vector<ColumnSpec>> ColumnsFromProto(const Columns& stored) {
  VICINITY_RETURN_IF_ERROR(CheckCount(stored.size(), kMaxColumns, "columns"));
  std::vector<ColumnSpec> columns;
  std::set<std::string> names;
  for (const proto::Column& one : stored) {
    VICINITY_ASSIGN_OR_RETURN(ColumnSpec column, ColumnFromProto(one));
    if (!names.insert(column.name).second) {
      return absl::InvalidArgumentError(absl::StrCat("two columns named ", column.name));
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

absl::StatusOr<RaggedSpec> RaggedFromProto(const proto::RaggedColumn& stored) {
  VICINITY_RETURN_IF_ERROR(CheckName(stored.name()));
  const std::string where = absl::StrCat("ragged column ", stored.name(), ": ");
  if (!proto::DType_IsValid(stored.dtype()) || stored.dtype() == proto::DTYPE_UNSPECIFIED) {
    return absl::InvalidArgumentError(absl::StrCat(where, "unknown dtype ", stored.dtype()));
  }
  if (stored.num_columns() < 0 || stored.num_columns() > INT32_MAX) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, stored.num_columns(), " columns, not 0 to ", INT32_MAX));
  }
  return RaggedSpec{stored.name(), static_cast<DType>(stored.dtype()), stored.num_columns()};
}

absl::Status ReadRagged(const proto::NodeType& stored, NodeTypeSpec* node) {
  VICINITY_RETURN_IF_ERROR(CheckCount(stored.ragged_columns_size(), kMaxColumns, "ragged columns"));
  for (const proto::RaggedColumn& one : stored.ragged_columns()) {
    VICINITY_ASSIGN_OR_RETURN(RaggedSpec column, RaggedFromProto(one));
    if (node->FindColumn(column.name) >= 0 || node->FindRagged(column.name) >= 0) {
      return absl::InvalidArgumentError(absl::StrCat("two columns named ", column.name));
    }
    node->ragged.push_back(std::move(column));
  }
  return absl::OkStatus();
}

bool IsInteger(DType dtype) {
  return dtype == DType::kInt8 || dtype == DType::kUint8 || dtype == DType::kInt16 ||
         dtype == DType::kInt32 || dtype == DType::kInt64;
}

absl::Status CheckRoles(const NodeTypeSpec& node) {
  if (node.num_classes < 0) {
    return absl::InvalidArgumentError(absl::StrCat("num_classes ", node.num_classes));
  }
  if (!node.label_column.empty()) {
    const int label = node.FindColumn(node.label_column);
    if (label < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("label_column ", node.label_column, ": no such column"));
    }
    if (!IsInteger(node.columns[label].dtype) || node.columns[label].num_values() != 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("label_column ", node.label_column, ": not one integer a node"));
    }
  }
  if (!node.split_column.empty()) {
    const int split = node.FindColumn(node.split_column);
    if (split < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("split_column ", node.split_column, ": no such column"));
    }
    if (node.columns[split].dtype != DType::kUint8 || !node.columns[split].shape.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("split_column ", node.split_column, ": not a uint8 scalar"));
    }
  }
  if (!node.target_column.empty() && node.FindColumn(node.target_column) < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("target_column ", node.target_column, ": no such column"));
  }
  return absl::OkStatus();
}

absl::Status RefuseCopies(const std::vector<ColumnSpec>& columns) {
  for (const ColumnSpec& column : columns) {
    if (column.of_source.empty()) continue;
    return absl::InvalidArgumentError(absl::StrCat("column ", column.name, ": of_source ",
                                                   column.of_source, ": only edges have sources"));
  }
  return absl::OkStatus();
}

absl::StatusOr<NodeTypeSpec> NodeTypeFromProto(const proto::NodeType& stored) {
  VICINITY_RETURN_IF_ERROR(CheckName(stored.name()));
  if (!proto::IdKind_IsValid(stored.id_kind()) || stored.id_kind() == proto::ID_KIND_UNSPECIFIED) {
    return absl::InvalidArgumentError(absl::StrCat("unknown id_kind ", stored.id_kind()));
  }
  NodeTypeSpec node;
  node.name = stored.name();
  node.id_kind = static_cast<IdKind>(stored.id_kind());
  node.key_salt = stored.key_salt();
  VICINITY_ASSIGN_OR_RETURN(node.columns, ColumnsFromProto(stored.columns()));
  VICINITY_RETURN_IF_ERROR(RefuseCopies(node.columns));
  VICINITY_RETURN_IF_ERROR(ReadRagged(stored, &node));
  node.label_column = stored.label_column();
  node.num_classes = stored.num_classes();
  node.split_column = stored.split_column();
  node.target_column = stored.target_column();
  VICINITY_RETURN_IF_ERROR(CheckRoles(node));
  return node;
}

absl::StatusOr<int> NodeTypeNamed(const Schema& schema, const std::string& name) {
  const int type = schema.FindNodeType(name);
  if (type < 0) return absl::InvalidArgumentError(absl::StrCat("no node type named ", name));
  return type;
}

absl::Status CheckWeights(const EdgeTypeSpec& edge) {
  if (edge.weight_column.empty()) return absl::OkStatus();
  const int weight = edge.FindColumn(edge.weight_column);
  if (weight < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("weight_column ", edge.weight_column, ": no such column"));
  }
  const ColumnSpec& column = edge.columns[weight];
  const bool is_float = column.dtype == DType::kFloat32 || column.dtype == DType::kFloat64;
  if (is_float && column.num_values() == 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("weight_column ", edge.weight_column, ": not one float32 or float64 an edge"));
}

absl::Status CheckTimeOrder(const EdgeTypeSpec& edge) {
  if (edge.time_order.empty()) return absl::OkStatus();
  const int times = edge.FindColumn(edge.time_order);
  if (times < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("time_order ", edge.time_order, ": no such column"));
  }
  if (HoldsTimes(edge.columns[times])) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("time_order ", edge.time_order, ": not one int64 an edge"));
}

std::string TypeText(const ColumnSpec& column) {
  return absl::StrCat(absl::string_view(DTypeName(column.dtype).data()), "[",
                      absl::StrJoin(column.shape, ","), "]");
}

absl::Status CheckCopies(const EdgeTypeSpec& edge, const NodeTypeSpec& source) {
  for (const ColumnSpec& column : edge.columns) {
    if (column.of_source.empty()) continue;
    const std::string where =
        absl::StrCat("column ", column.name, ": of_source ", column.of_source, ": ");
    const int named = source.FindColumn(column.of_source);
    if (named < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, "node type ", source.name, " has no such column"));
    }
    const ColumnSpec& copied = source.columns[named];
    if (copied.dtype == column.dtype && copied.shape == column.shape) continue;
    return absl::InvalidArgumentError(absl::StrCat(where, "that of node type ", source.name, " is ",
                                                   TypeText(copied), ", and the copy is ",
                                                   TypeText(column)));
  }
  return absl::OkStatus();
}

absl::StatusOr<EdgeTypeSpec> EdgeTypeFromProto(const Schema& schema,
                                               const proto::EdgeType& stored) {
  EdgeTypeSpec edge;
  VICINITY_ASSIGN_OR_RETURN(edge.source_type, NodeTypeNamed(schema, stored.source()));
  VICINITY_RETURN_IF_ERROR(CheckName(stored.relation()));
  edge.relation = stored.relation();
  VICINITY_ASSIGN_OR_RETURN(edge.target_type, NodeTypeNamed(schema, stored.target()));
  VICINITY_ASSIGN_OR_RETURN(edge.columns, ColumnsFromProto(stored.columns()));
  VICINITY_RETURN_IF_ERROR(CheckCopies(edge, schema.node_types[edge.source_type]));
  edge.weight_column = stored.weight_column();
  edge.time_order = stored.time_order();
  VICINITY_RETURN_IF_ERROR(CheckTimeOrder(edge));
  VICINITY_RETURN_IF_ERROR(CheckWeights(edge));
  return edge;
}

void ColumnsToProto(const std::vector<ColumnSpec>& columns, Columns* stored) {
  for (const ColumnSpec& column : columns) *stored->Add() = ColumnToProto(column);
}

}  // namespace

absl::Status CheckName(const std::string& name) {
  const bool letters = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '_' || c == '-';
  });
  if (letters && !name.empty() && name.size() <= kMaxNameBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("name \"", name, "\": not 1 to ", kMaxNameBytes,
                                                 " letters, digits, '_' or '-'"));
}

absl::Status CheckShape(DType dtype, const std::vector<int64_t>& shape) {
  VICINITY_RETURN_IF_ERROR(CheckCount(shape.size(), kMaxDimensions, "dimensions"));
  // Dimension by dimension with zeros passed over, or 0 could hide a product that overflows.
  int64_t bytes = DTypeBytes(dtype);
  for (const int64_t dimension : shape) {
    if (dimension < 0) {
      return absl::InvalidArgumentError(absl::StrCat("dimension ", dimension, " is negative"));
    }
    if (dimension > kMaxRowBytes / bytes) {
      return absl::InvalidArgumentError(absl::StrCat(
          "dimension ", dimension, " makes a row larger than ", kMaxRowBytes, " bytes"));
    }
    bytes *= std::max<int64_t>(dimension, 1);
  }
  return absl::OkStatus();
}

absl::StatusOr<Schema> SchemaFromProto(const proto::Schema& stored) {
  if (stored.node_types().empty()) return absl::InvalidArgumentError("schema: no node types");
  VICINITY_RETURN_IF_ERROR(CheckCount(stored.node_types_size(), kMaxTypes, "node types"));
  VICINITY_RETURN_IF_ERROR(CheckCount(stored.edge_types_size(), kMaxTypes, "edge types"));
  Schema schema;
  for (const proto::NodeType& type : stored.node_types()) {
    absl::StatusOr<NodeTypeSpec> node = NodeTypeFromProto(type);
    if (!node.ok()) return At(absl::StrCat("node type ", type.name()), node.status());
    if (schema.FindNodeType(type.name()) >= 0) {
      return absl::InvalidArgumentError(absl::StrCat("two node types named ", type.name()));
    }
    schema.node_types.push_back(*std::move(node));
  }
  std::set<std::string> edge_names;
  for (const proto::EdgeType& type : stored.edge_types()) {
    const std::string name = absl::StrCat(type.source(), ":", type.relation(), ":", type.target());
    absl::StatusOr<EdgeTypeSpec> edge = EdgeTypeFromProto(schema, type);
    if (!edge.ok()) return At(absl::StrCat("edge type ", name), edge.status());
    if (!edge_names.insert(name).second) {
      return absl::InvalidArgumentError(absl::StrCat("two edge types named ", name));
    }
    schema.edge_types.push_back(*std::move(edge));
  }
  return schema;
}

proto::Column ColumnToProto(const ColumnSpec& column) {
  proto::Column stored;
  stored.set_name(column.name);
  stored.set_dtype(static_cast<proto::DType>(column.dtype));
  stored.mutable_shape()->Add(column.shape.begin(), column.shape.end());
  stored.set_of_source(column.of_source);
  return stored;
}

proto::RaggedColumn RaggedToProto(const RaggedSpec& column) {
  proto::RaggedColumn stored;
  stored.set_name(column.name);
  stored.set_dtype(static_cast<proto::DType>(column.dtype));
  stored.set_num_columns(column.num_columns);
  return stored;
}

proto::Schema SchemaToProto(const Schema& schema) {
  proto::Schema stored;
  for (const NodeTypeSpec& node : schema.node_types) {
    proto::NodeType* type = stored.add_node_types();
    type->set_name(node.name);
    type->set_id_kind(static_cast<proto::IdKind>(node.id_kind));
    type->set_key_salt(node.key_salt);
    ColumnsToProto(node.columns, type->mutable_columns());
    type->set_label_column(node.label_column);
    type->set_num_classes(node.num_classes);
    type->set_split_column(node.split_column);
    type->set_target_column(node.target_column);
    for (const RaggedSpec& column : node.ragged) {
      *type->add_ragged_columns() = RaggedToProto(column);
    }
  }
  for (const EdgeTypeSpec& edge : schema.edge_types) {
    proto::EdgeType* type = stored.add_edge_types();
    type->set_source(schema.node_types[edge.source_type].name);
    type->set_relation(edge.relation);
    type->set_target(schema.node_types[edge.target_type].name);
    ColumnsToProto(edge.columns, type->mutable_columns());
    type->set_weight_column(edge.weight_column);
    type->set_time_order(edge.time_order);
  }
  return stored;
}

}  // namespace vicinity
