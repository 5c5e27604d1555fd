// What a dataset holds, as plain values: node types, edge types and their columns.
//
// Standard C++ alone, since the client's public headers show it. A homogeneous graph is
// one node type and one edge type.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vicinity {

// The type of one value of a row. Rows are opaque bytes to all but their reader;
// values are little-endian.
enum class DType : uint8_t {
  kBool = 1,  // one byte, 0 or 1
  kInt8,
  kUint8,
  kInt16,
  kInt32,
  kInt64,
  kFloat16,
  kBfloat16,
  kFloat32,
  kFloat64,
};
int64_t DTypeBytes(DType dtype);          // of one value
std::string_view DTypeName(DType dtype);  // "float32"

// What the user's node ids look like; proto/schema.proto tells what a node's key is.
enum class IdKind : uint8_t { kDense = 1, kInt64, kString };

// What a node is for in training: the values of a split column.
enum class Split : uint8_t { kNone = 0, kTrain, kValidation, kTest };

struct ColumnSpec {
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<int64_t> shape;  // of one row; empty: a scalar
  // Of edges: the column of the source node type of which this is a copy, row by row. Empty: none.
  std::string of_source{};

  int64_t num_values() const;  // in a row
  int64_t row_bytes() const;
};

// A column of nodes with any number of values in a row: a bag of words, a list, a text, or a row of
// a sparse matrix.
struct RaggedSpec {
  std::string name;
  DType dtype = DType::kFloat32;  // of one value
  // > 0: a row is one of a sparse matrix with so many columns. In front of its values are their
  // indices, which rise, int32 each, as many as there are values.
  int64_t num_columns = 0;

  bool is_sparse() const { return num_columns > 0; }
  int64_t item_bytes() const;  // of a value, with its index if it has one
};

// The names of nodes (IdKind::kString), where the position of a ragged column is asked for.
inline constexpr int32_t kNamesColumn = -1;

struct NodeTypeSpec {
  std::string name;
  IdKind id_kind = IdKind::kDense;
  uint64_t key_salt = 0;
  std::vector<ColumnSpec> columns;
  std::string label_column;  // empty: no labels
  int32_t num_classes = 0;
  std::string split_column;  // empty: no splits
  // What models learn where that is no single class; any type and shape. Empty: none.
  std::string target_column{};
  std::vector<RaggedSpec> ragged{};  // no two columns have one name, ragged or not

  int FindColumn(std::string_view column) const;  // -1: none
  int FindRagged(std::string_view column) const;  // -1: none
  // Labels, splits and targets; every other column may be features.
  bool HasRole(std::string_view column) const;
};

struct EdgeTypeSpec {
  int32_t source_type = 0;  // positions in Schema::node_types
  std::string relation;
  int32_t target_type = 0;
  std::vector<ColumnSpec> columns;
  std::string weight_column{};  // sampling may draw by it; empty: none
  // Each list is in the order of this column, of one int64 an edge; equals as all lists are, by
  // their sources' keys and their ids. Draws by it as the time need not go through lists. Empty: by
  // keys and ids alone.
  std::string time_order{};

  int FindColumn(std::string_view column) const;  // -1: none
};

struct Schema {
  std::vector<NodeTypeSpec> node_types;
  std::vector<EdgeTypeSpec> edge_types;

  int FindNodeType(std::string_view name) const;  // -1: none
  // Accepts "source:relation:target" and, where it is the only one so named, "relation". -1: none.
  int FindEdgeType(std::string_view name) const;
  std::string EdgeTypeName(int edge_type) const;  // "source:relation:target"
};

}  // namespace vicinity
