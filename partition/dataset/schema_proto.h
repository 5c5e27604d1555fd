// Schema <-> its protobuf form, and what a schema may hold.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partition/schema/schema.h"
#include "proto/schema.pb.h"

namespace vicinity {

inline constexpr size_t kMaxNameBytes = 64;
inline constexpr size_t kMaxTypes = 1024;    // node types, and edge types
inline constexpr size_t kMaxColumns = 1024;  // of one type
inline constexpr size_t kMaxDimensions = 8;
inline constexpr int64_t kMaxRowBytes = int64_t{2} << 20;  // whole rows fit any gRPC message

// InvalidArgument naming the type and column: bad or doubled names, unknown dtypes, negative
// or overflowing shapes, edge types between unknown node types, a label column that is not
// integer, a split column that is not a uint8 scalar or a weight column that is not one float32 or
// float64, a copy of a node column that is not there or is of another dtype or shape, more of
// anything than the limits above.
//
// A ragged row, too, has at most kMaxRowBytes.
absl::StatusOr<Schema> SchemaFromProto(const proto::Schema& stored);
proto::Schema SchemaToProto(const Schema& schema);
proto::Column ColumnToProto(const ColumnSpec& column);
proto::RaggedColumn RaggedToProto(const RaggedSpec& column);

// Of types, relations, columns and rankings: 1 to 64 letters, digits, '_' and '-', so that '.', ':'
// and
// '/' separate names safely. InvalidArgument with the name.
absl::Status CheckName(const std::string& name);

// No negative dimension, at most kMaxDimensions of them and kMaxRowBytes. InvalidArgument.
absl::Status CheckShape(DType dtype, const std::vector<int64_t>& shape);

}  // namespace vicinity
