// Schema <-> its protobuf form.
#pragma once

#include "absl/status/statusor.h"
#include "partition/schema.h"
#include "proto/schema.pb.h"

namespace vicinity {

// InvalidArgument naming the type and column: bad or doubled names, unknown dtypes, negative
// or overflowing shapes, edge types between unknown node types, a label column that is not
// integer or a split column that is not a uint8 scalar.
absl::StatusOr<Schema> SchemaFromProto(const proto::Schema& stored);
proto::Schema SchemaToProto(const Schema& schema);

}  // namespace vicinity
