#include "server/handlers/rows_handler.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/shard_reader.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "proto/limits.h"
#include "proto/narrow_floats.h"
#include "server/handlers/reply_size.h"
#include "server/handlers/request_checks.h"

namespace vicinity {
namespace {

constexpr int32_t kKeysColumn = -1;

// A row is at least a message, so a column of wider rows could not be read by any client.

// Rows that a request may be about: those of a node type, or of an edge type.
struct RowTable {
  std::string name;  // of the type, for error texts
  const std::vector<ColumnSpec>* specs;
  int64_t num_rows;
};

absl::StatusOr<RowTable> FindTable(const Schema& schema, const ShardReader& reader,
                                   const proto::RowsRequest& request) {
  if (!request.of_edges()) {
    VICINITY_ASSIGN_OR_RETURN(const NodeTypeId type, FindNodeType(schema, request.node_type()));
    return RowTable{schema.node_types[type.value].name, &schema.node_types[type.value].columns,
                    reader.num_nodes(type)};
  }
  const int32_t type = request.node_type();
  if (type < 0 || type >= static_cast<int64_t>(schema.edge_types.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("edge type ", type, " does not exist, there are ", schema.edge_types.size()));
  }
  return RowTable{schema.EdgeTypeName(type), &schema.edge_types[type].columns,
                  reader.num_edges(EdgeTypeId{type})};
}

absl::StatusOr<ShardColumn> FindColumn(const RowTable& table, const ShardReader& reader,
                                       const proto::RowsRequest& request) {
  const int32_t column = request.column();
  if (column == kKeysColumn && !request.of_edges()) {
    return reader.KeysColumn(NodeTypeId{request.node_type()});
  }
  if (column < 0 || column >= static_cast<int64_t>(table.specs->size())) {
    return absl::InvalidArgumentError(absl::StrCat("column ", column, " of type \"", table.name,
                                                   "\" does not exist, there are ",
                                                   table.specs->size()));
  }
  const ShardColumn found = request.of_edges()
                                ? reader.EdgeColumn(EdgeTypeId{request.node_type()}, column)
                                : reader.NodeColumn(NodeTypeId{request.node_type()}, column);
  if (found.row_bytes() > kMaxCallBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("column ", column, " of type \"", table.name, "\" has rows of ",
                     found.row_bytes(), " bytes, the widest to send are ", kMaxCallBytes));
  }
  return found;
}

absl::Status CheckPrecision(const RowTable& table, const proto::RowsRequest& request) {
  if (request.precision() == proto::PRECISION_STORED) return absl::OkStatus();
  if (!proto::Precision_IsValid(request.precision())) {
    return absl::InvalidArgumentError(
        absl::StrCat("precision ", request.precision(), " does not exist"));
  }
  if (request.column() != kKeysColumn &&
      (*table.specs)[request.column()].dtype == DType::kFloat32) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("column ", request.column(), " of type \"", table.name, "\" cannot be sent as ",
                   proto::Precision_Name(request.precision()), ": it is not of float32"));
}

// Rows of a column, as they lie or narrowed: those of a range, or of a list.
class RowSource final : public ChunkSource<proto::RowsChunk> {
 public:
  // `rows` in the request or in `copy`; empty: `count` rows from `first` on.
  struct Wanted {
    std::vector<uint64_t> copy;
    absl::Span<const uint64_t> rows;
    int64_t first = 0;
    int64_t count = 0;
  };

  RowSource(ShardReader reader, const ShardColumn& column, proto::Precision precision,
            const Limits& limits, Wanted wanted)
      : reader_(std::move(reader)),
        column_(column),
        wanted_(std::move(wanted)),
        precision_(precision),
        row_bytes_(column.row_bytes()),
        sent_row_bytes_(precision == proto::PRECISION_STORED ? row_bytes_ : row_bytes_ / 2),
        // Rows of no bytes need no second chunk.
        rows_per_chunk_(sent_row_bytes_ == 0
                            ? INT64_MAX
                            : std::max<int64_t>(limits.max_chunk_bytes / sent_row_bytes_, 1)) {}

  absl::StatusOr<Piece> Next(proto::RowsChunk* chunk, IsGone) override {
    if (wanted_.count == 0) return Piece::kNothing;
    const int64_t taken = std::min(rows_per_chunk_, wanted_.count - done_);
    chunk->set_first(done_);
    chunk->set_precision(precision_);
    chunk->set_version(reader_.version());
    chunk->set_term(reader_.term());
    chunk->mutable_rows()->clear();
    chunk->mutable_rows()->reserve(taken * sent_row_bytes_);
    VICINITY_RETURN_IF_ERROR(AddRows(taken, chunk->mutable_rows()));
    done_ += taken;
    return done_ == wanted_.count ? Piece::kLast : Piece::kMore;
  }

 private:
  absl::Status AddRows(int64_t taken, std::string* to) const {
    if (wanted_.rows.empty()) {
      return reader_.ReadRange(column_, wanted_.first + done_, taken, [&](const char* rows) {
        to->clear();
        Add(rows, taken, to);
      });
    }
    return reader_.ReadRows(
        column_, wanted_.rows.subspan(done_, taken), [&] { to->clear(); },
        [&](size_t, const char* row) { Add(row, 1, to); });
  }

  // Appends `count` rows of the column, which lie behind each other.
  void Add(const char* from, int64_t count, std::string* to) const {
    if (precision_ == proto::PRECISION_STORED) {
      to->append(from, count * row_bytes_);
    } else {
      const size_t before = to->size();
      to->resize(before + count * sent_row_bytes_);
      NarrowFloats(precision_, from, count * sent_row_bytes_ / sizeof(uint16_t), &(*to)[before]);
    }
  }

  const ShardReader reader_;
  const ShardColumn column_;
  const Wanted wanted_;
  const proto::Precision precision_;
  const int64_t row_bytes_;
  const int64_t sent_row_bytes_;
  const int64_t rows_per_chunk_;
  int64_t done_ = 0;
};

absl::Status CheckRange(const proto::RowsRequest& request, const RowTable& table,
                        const Shard& shard) {
  const uint64_t num_rows = table.num_rows;
  if (!request.rows().empty()) {
    return absl::InvalidArgumentError(absl::StrCat("a range of ", request.count(),
                                                   " rows and a list of ", request.rows().size(),
                                                   " bytes at once"));
  }
  if (request.first() > num_rows || request.count() > num_rows - request.first()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "range of ", request.count(), " rows from ", request.first(), " on is not in shard ",
        shard.id().value, ", which has ", num_rows, " of type \"", table.name, "\""));
  }
  return absl::OkStatus();
}

// The bytes of a row of one of `types`, of nodes or edges; 0 for a column that there is not.
template <typename Types>
int64_t RowBytes(const Types& types, const proto::RowsRequest& request) {
  const int32_t type = request.node_type();
  const int32_t column = request.column();
  if (type < 0 || type >= static_cast<int64_t>(types.size())) return 0;
  if (column == -1) return request.of_edges() ? 0 : kIdBytes;  // the keys
  const auto& columns = types[type].columns;
  if (column < 0 || column >= static_cast<int64_t>(columns.size())) return 0;
  return std::max<int64_t>(columns[column].row_bytes(), 0);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChunkSource<proto::RowsChunk>>> FetchRows(
    const ServerState& state, const proto::RowsRequest& request) {
  VICINITY_ASSIGN_OR_RETURN(ShardReader reader, FindReader(state, request));
  VICINITY_ASSIGN_OR_RETURN(const RowTable table,
                            FindTable(state.dataset->schema(), reader, request));
  VICINITY_ASSIGN_OR_RETURN(const ShardColumn column, FindColumn(table, reader, request));
  VICINITY_RETURN_IF_ERROR(CheckPrecision(table, request));
  RowSource::Wanted wanted;
  if (request.count() > 0) {
    VICINITY_RETURN_IF_ERROR(CheckRange(request, table, reader.shard()));
    wanted.first = static_cast<int64_t>(request.first());
    wanted.count = static_cast<int64_t>(request.count());
  } else {
    VICINITY_ASSIGN_OR_RETURN(wanted.rows,
                              ReadIds("rows", request.rows(), state.limits, &wanted.copy));
    VICINITY_RETURN_IF_ERROR(CheckRows(wanted.rows, table.num_rows, reader.shard(), table.name));
    wanted.count = static_cast<int64_t>(wanted.rows.size());
  }
  return std::make_unique<RowSource>(std::move(reader), column, request.precision(), state.limits,
                                     std::move(wanted));
}

int64_t ReplyBytes(const ServerState& state, const proto::RowsRequest& request) {
  const Dataset& dataset = *state.dataset;
  const Schema& schema = dataset.schema();
  const int64_t row_bytes = request.of_edges() ? RowBytes(schema.edge_types, request)
                                               : RowBytes(schema.node_types, request);
  const WideBytes rows = request.count() > 0 ? request.count() : request.rows().size() / kIdBytes;
  return ClampBytes(rows * row_bytes);
}

}  // namespace vicinity
