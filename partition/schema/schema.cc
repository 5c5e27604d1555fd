#include "partition/schema/schema.h"

namespace vicinity {
namespace {

template <typename Named>
int FindNamed(const std::vector<Named>& all, std::string_view name) {
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

int64_t DTypeBytes(DType dtype) {
  switch (dtype) {
    case DType::kBool:
    case DType::kInt8:
    case DType::kUint8:
      return 1;
    case DType::kInt16:
    case DType::kFloat16:
    case DType::kBfloat16:
      return 2;
    case DType::kInt32:
    case DType::kFloat32:
      return 4;
    case DType::kInt64:
    case DType::kFloat64:
      return 8;
  }
  return 0;
}

std::string_view DTypeName(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return "bool";
    case DType::kInt8:
      return "int8";
    case DType::kUint8:
      return "uint8";
    case DType::kInt16:
      return "int16";
    case DType::kInt32:
      return "int32";
    case DType::kInt64:
      return "int64";
    case DType::kFloat16:
      return "float16";
    case DType::kBfloat16:
      return "bfloat16";
    case DType::kFloat32:
      return "float32";
    case DType::kFloat64:
      return "float64";
  }
  return "unknown";
}

int64_t ColumnSpec::num_values() const {
  int64_t values = 1;
  for (const int64_t dimension : shape) values *= dimension;
  return values;
}

int64_t ColumnSpec::row_bytes() const { return num_values() * DTypeBytes(dtype); }

int64_t RaggedSpec::item_bytes() const {
  return DTypeBytes(dtype) + (is_sparse() ? static_cast<int64_t>(sizeof(int32_t)) : 0);
}

int NodeTypeSpec::FindRagged(std::string_view column) const { return FindNamed(ragged, column); }

int NodeTypeSpec::FindColumn(std::string_view column) const { return FindNamed(columns, column); }

bool NodeTypeSpec::HasRole(std::string_view column) const {
  return column == label_column || column == split_column || column == target_column;
}

int EdgeTypeSpec::FindColumn(std::string_view column) const { return FindNamed(columns, column); }

int Schema::FindNodeType(std::string_view name) const { return FindNamed(node_types, name); }

int Schema::FindEdgeType(std::string_view name) const {
  int by_relation = -1;
  bool relation_is_unique = true;
  for (int e = 0; e < static_cast<int>(edge_types.size()); ++e) {
    if (EdgeTypeName(e) == name) return e;
    if (edge_types[e].relation != name) continue;
    relation_is_unique = by_relation == -1;
    by_relation = e;
  }
  return relation_is_unique ? by_relation : -1;
}

std::string Schema::EdgeTypeName(int edge_type) const {
  const EdgeTypeSpec& edge = edge_types[edge_type];
  return node_types[edge.source_type].name + ":" + edge.relation + ":" +
         node_types[edge.target_type].name;
}

}  // namespace vicinity
