#include "server/rows_handler.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/dataset.h"
#include "partition/schema.h"
#include "partition/shard.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "server/request_checks.h"

namespace vicinity {
namespace {

constexpr int32_t kKeysColumn = -1;

// A row is at least a message, so a column of wider rows could not be read by any client.
constexpr int64_t kWidestRow = int64_t{32} << 20;

absl::StatusOr<ColumnView> FindColumn(const NodeTypeSpec& spec, const NodeTable& nodes,
                                      int32_t column) {
  if (column == kKeysColumn) {
    return ColumnView{reinterpret_cast<const char*>(nodes.keys.data()), nodes.num_nodes(),
                      sizeof(uint64_t)};
  }
  if (column < 0 || column >= static_cast<int64_t>(nodes.columns.size())) {
    return absl::InvalidArgumentError(absl::StrCat("column ", column, " of node type \"", spec.name,
                                                   "\" does not exist, there are ",
                                                   nodes.columns.size()));
  }
  const ColumnView& view = nodes.columns[column];
  if (view.row_bytes > kWidestRow) {
    return absl::InvalidArgumentError(absl::StrCat("column \"", spec.columns[column].name,
                                                   "\" has rows of ", view.row_bytes,
                                                   " bytes, the widest to send are ", kWidestRow));
  }
  return view;
}

// How many rows a chunk takes. Rows of no bytes need no second chunk.
int64_t RowsPerChunk(const ColumnView& column, const Limits& limits) {
  return column.row_bytes == 0 ? INT64_MAX
                               : std::max<int64_t>(limits.max_chunk_bytes / column.row_bytes, 1);
}

// Sends rows [first, first + count) as they lie.
absl::Status SendRange(const ColumnView& column, int64_t first, int64_t count, int64_t per_chunk,
                       ChunkSink<proto::RowsChunk> emit) {
  proto::RowsChunk chunk;
  for (int64_t done = 0; done < count;) {
    const int64_t taken = std::min(per_chunk, count - done);
    chunk.set_first(done);
    chunk.mutable_rows()->assign(column.data + (first + done) * column.row_bytes,
                                 taken * column.row_bytes);
    if (!emit(&chunk)) return GoneError();
    done += taken;
  }
  return absl::OkStatus();
}

absl::Status SendRows(const ColumnView& column, absl::Span<const uint64_t> rows, int64_t per_chunk,
                      ChunkSink<proto::RowsChunk> emit) {
  proto::RowsChunk chunk;
  const int64_t width = column.row_bytes;
  for (size_t done = 0; done < rows.size();) {
    const size_t taken = std::min<uint64_t>(per_chunk, rows.size() - done);
    chunk.set_first(done);
    // Of the same size as the chunk before, so that only the first is zeroed.
    chunk.mutable_rows()->resize(taken * width);
    char* to = &(*chunk.mutable_rows())[0];
    for (size_t i = 0; width > 0 && i < taken; ++i, to += width) {
      std::memcpy(to, column.data + static_cast<int64_t>(rows[done + i]) * width, width);
    }
    if (!emit(&chunk)) return GoneError();
    done += taken;
  }
  return absl::OkStatus();
}

absl::Status CheckRange(const proto::RowsRequest& request, const NodeTable& nodes,
                        const Shard& shard, absl::string_view node_type) {
  const uint64_t num_nodes = nodes.num_nodes();
  if (!request.rows().empty()) {
    return absl::InvalidArgumentError(absl::StrCat("a range of ", request.count(),
                                                   " rows and a list of ", request.rows().size(),
                                                   " bytes at once"));
  }
  if (request.first() > num_nodes || request.count() > num_nodes - request.first()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "range of ", request.count(), " rows from ", request.first(), " on is not in shard ",
        shard.id().value, ", which has ", num_nodes, " nodes of type \"", node_type, "\""));
  }
  return absl::OkStatus();
}

// Sends the names of `rows`, as many a message as fit; a longer one goes alone.
absl::Status SendNames(const NodeTable& nodes, absl::Span<const uint64_t> rows,
                       const Limits& limits, ChunkSink<proto::NamesChunk> emit) {
  proto::NamesChunk chunk;
  int64_t bytes = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string_view name = nodes.name(static_cast<int64_t>(rows[i]));
    const int64_t name_bytes = static_cast<int64_t>(name.size());
    if (chunk.names_size() > 0 && bytes + name_bytes > limits.max_chunk_bytes) {
      if (!emit(&chunk)) return GoneError();
      chunk.Clear();
      bytes = 0;
    }
    if (chunk.names_size() == 0) chunk.set_first(i);
    chunk.add_names(name.data(), name.size());
    bytes += name_bytes + 2;  // its tag and length: nodes with empty names end a chunk, too
  }
  if (chunk.names_size() > 0 && !emit(&chunk)) return GoneError();
  return absl::OkStatus();
}

}  // namespace

absl::Status FetchRows(const ServerState& state, const proto::RowsRequest& request,
                       ChunkSink<proto::RowsChunk> emit) {
  VICINITY_ASSIGN_OR_RETURN(const Shard* shard,
                            FindShard(state, request.fingerprint(), request.shard()));
  const Schema& schema = state.dataset->schema();
  VICINITY_ASSIGN_OR_RETURN(const NodeTypeId type, FindNodeType(schema, request.node_type()));
  const NodeTypeSpec& spec = schema.node_types[type.value];
  const NodeTable& nodes = shard->nodes(type);
  VICINITY_ASSIGN_OR_RETURN(const ColumnView column, FindColumn(spec, nodes, request.column()));
  const int64_t per_chunk = RowsPerChunk(column, state.limits);
  if (request.count() > 0) {
    VICINITY_RETURN_IF_ERROR(CheckRange(request, nodes, *shard, spec.name));
    return SendRange(column, request.first(), request.count(), per_chunk, emit);
  }
  std::vector<uint64_t> copy;
  VICINITY_ASSIGN_OR_RETURN(const absl::Span<const uint64_t> rows,
                            ReadIds("rows", request.rows(), state.limits, &copy));
  VICINITY_RETURN_IF_ERROR(CheckRows(rows, nodes.num_nodes(), *shard, spec.name));
  return SendRows(column, rows, per_chunk, emit);
}

absl::Status FetchNames(const ServerState& state, const proto::NamesRequest& request,
                        ChunkSink<proto::NamesChunk> emit) {
  VICINITY_ASSIGN_OR_RETURN(const Shard* shard,
                            FindShard(state, request.fingerprint(), request.shard()));
  const Schema& schema = state.dataset->schema();
  VICINITY_ASSIGN_OR_RETURN(const NodeTypeId type, FindNodeType(schema, request.node_type()));
  const NodeTypeSpec& spec = schema.node_types[type.value];
  if (spec.id_kind != IdKind::kString) {
    return absl::InvalidArgumentError(
        absl::StrCat("nodes of type \"", spec.name, "\" have integer ids, no names"));
  }
  std::vector<uint64_t> copy;
  VICINITY_ASSIGN_OR_RETURN(const absl::Span<const uint64_t> rows,
                            ReadIds("rows", request.rows(), state.limits, &copy));
  const NodeTable& nodes = shard->nodes(type);
  VICINITY_RETURN_IF_ERROR(CheckRows(rows, nodes.num_nodes(), *shard, spec.name));
  return SendNames(nodes, rows, state.limits, emit);
}

}  // namespace vicinity
