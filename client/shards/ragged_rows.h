// Rows of ragged columns: asked of their owners, and taken apart.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/shards/call_context.h"
#include "client/shards/shard_router.h"
#include "client/types/graph_values.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"

namespace vicinity {

// NotFound naming the ragged columns that the type has.
absl::StatusOr<int32_t> FindRaggedColumn(const NodeTypeSpec& type, const std::string& column);

// The bytes of the row of each of `nodes` (in the book, repeats allowed), in their order; of
// kNamesColumn their names. All shards at the same time. `out` has room for all.
absl::Status FetchRaggedBytes(const ShardRouter& router, NodeTypeId type, int32_t column,
                              absl::Span<const int64_t> nodes, const CallContext& context,
                              std::string* out);

// Puts rows together. DataLoss, with the position among them, for one that is no row of the column:
// not of whole values, or of indices that do not rise below num_columns.
absl::StatusOr<RaggedRows> JoinRaggedRows(const RaggedSpec& spec,
                                          absl::Span<const std::string_view> rows);

// Both, of nodes in the book.
absl::StatusOr<RaggedRows> FetchRaggedRows(const ShardRouter& router, NodeTypeId type,
                                           int32_t column, absl::Span<const int64_t> nodes,
                                           const CallContext& context);

}  // namespace vicinity
