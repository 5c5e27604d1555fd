#include "server/handlers/find_handler.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/shard_reader.h"
#include "partition/schema/condition.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "proto/limits.h"
#include "sampler/rules/condition_filter.h"
#include "sampler/rules/draw_spec_proto.h"
#include "sampler/rules/found_rows.h"
#include "sampler/rules/row_finder.h"
#include "server/handlers/reply_size.h"
#include "server/handlers/request_checks.h"

namespace vicinity {
namespace {

// Looks at some rows at a time until a chunk is full or nobody waits for it.
class FindSource final : public ChunkSource<proto::FindChunk> {
 public:
  FindSource(std::unique_ptr<RowFinder> finder, const LogPosition& at, int64_t first, int64_t count,
             const Limits& limits)
      : finder_(std::move(finder)),
        at_(at),
        first_(first),
        count_(count),
        rows_per_chunk_(std::max<int64_t>(limits.max_chunk_bytes / kIdBytes, 1)) {}

  absl::StatusOr<Piece> Next(proto::FindChunk* chunk, IsGone is_gone) override {
    if (count_ == 0) return Piece::kNothing;
    FoundRows found;
    // A row that is looked at may be one more of the chunk.
    while (looked_ < count_ && Room(found) > 0) {
      if (is_gone()) return GoneError();
      const int64_t some = std::min({RowFinder::kRowsAtOnce, count_ - looked_, Room(found)});
      VICINITY_RETURN_IF_ERROR(finder_->Find(first_ + looked_, some, &found));
      looked_ += some;
    }
    chunk->set_version(at_.version);
    chunk->set_term(at_.term);
    chunk->set_looked(looked_);
    chunk->set_rows_read(found.num_read);
    chunk->mutable_rows()->assign(reinterpret_cast<const char*>(found.rows.data()),
                                  found.rows.size() * sizeof(uint64_t));
    return looked_ < count_ ? Piece::kMore : Piece::kLast;
  }

 private:
  int64_t Room(const FoundRows& found) const {
    return rows_per_chunk_ - static_cast<int64_t>(found.rows.size());
  }

  const std::unique_ptr<RowFinder> finder_;
  const LogPosition at_;  // where it is read
  const int64_t first_;
  const int64_t count_;
  const int64_t rows_per_chunk_;
  int64_t looked_ = 0;
};

// The rows that a request is about: those of a node type, or of an edge type.
struct RowTable {
  std::string name;  // of the type, for error texts
  const std::vector<ColumnSpec>* columns;
  int64_t num_rows;
};

absl::StatusOr<RowTable> FindTable(const Schema& schema, const ShardReader& reader,
                                   const proto::FindRequest& request) {
  if (request.of_edges()) {
    VICINITY_ASSIGN_OR_RETURN(const EdgeTypeId type, FindEdgeType(schema, request.type()));
    return RowTable{schema.EdgeTypeName(type.value), &schema.edge_types[type.value].columns,
                    reader.num_edges(type)};
  }
  VICINITY_ASSIGN_OR_RETURN(const NodeTypeId type, FindNodeType(schema, request.type()));
  return RowTable{schema.node_types[type.value].name, &schema.node_types[type.value].columns,
                  reader.num_nodes(type)};
}

absl::Status CheckRange(const proto::FindRequest& request, const RowTable& table,
                        const Shard& shard) {
  const uint64_t num_rows = table.num_rows;
  if (request.count() > static_cast<uint64_t>(kMaxRequestLooked)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a range of ", request.count(), " rows to look at, the limit is ", kMaxRequestLooked));
  }
  if (request.first() <= num_rows && request.count() <= num_rows - request.first()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "range of ", request.count(), " rows from ", request.first(), " on is not in shard ",
      shard.id().value, ", which has ", num_rows, " of type \"", table.name, "\""));
}

absl::StatusOr<RowCondition> ConditionOf(const proto::FindRequest& request, const RowTable& table) {
  if (request.where().terms().empty()) {
    return absl::InvalidArgumentError("a condition without terms: every row would meet it");
  }
  return FromProto(request.where(), *table.columns);
}

// Bytes of a row's values that a condition on columns of one of `types`, of nodes or edges, reads.
template <typename Types>
int64_t RowBytes(const Types& types, const proto::FindRequest& request) {
  const int32_t type = request.type();
  if (type < 0 || type >= static_cast<int64_t>(types.size())) return 0;
  const absl::StatusOr<RowCondition> where = FromProto(request.where(), types[type].columns);
  if (!where.ok()) return 0;
  const ConditionFilter filter(*where);
  int64_t bytes = 0;
  for (const int32_t column : filter.columns()) {
    bytes += types[type].columns[column].row_bytes();
  }
  return bytes;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChunkSource<proto::FindChunk>>> FindRows(
    const ServerState& state, const proto::FindRequest& request) {
  VICINITY_ASSIGN_OR_RETURN(ShardReader reader, FindReader(state, request));
  VICINITY_ASSIGN_OR_RETURN(const RowTable table,
                            FindTable(state.dataset->schema(), reader, request));
  VICINITY_RETURN_IF_ERROR(CheckRange(request, table, reader.shard()));
  VICINITY_ASSIGN_OR_RETURN(RowCondition where, ConditionOf(request, table));
  auto finder =
      request.of_edges()
          ? std::make_unique<RowFinder>(reader, EdgeTypeId{request.type()}, std::move(where))
          : std::make_unique<RowFinder>(reader, NodeTypeId{request.type()}, std::move(where));
  return std::make_unique<FindSource>(
      std::move(finder), LogPosition{reader.version(), reader.term()},
      static_cast<int64_t>(request.first()), static_cast<int64_t>(request.count()), state.limits);
}

int64_t ReplyBytes(const ServerState& state, const proto::FindRequest& request) {
  const Schema& schema = state.dataset->schema();
  const int64_t row_bytes = request.of_edges() ? RowBytes(schema.edge_types, request)
                                               : RowBytes(schema.node_types, request);
  if (row_bytes == 0 || request.count() > static_cast<uint64_t>(kMaxRequestLooked)) return 0;
  return ClampBytes(WideBytes{request.count()} * std::max(row_bytes, kIdBytes));
}

}  // namespace vicinity
