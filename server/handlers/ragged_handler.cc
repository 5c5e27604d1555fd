#include "server/handlers/ragged_handler.h"

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
#include "server/handlers/reply_size.h"
#include "server/handlers/request_checks.h"

namespace vicinity {
namespace {

void AppendLength(uint32_t length, std::string* lengths) {
  lengths->append(reinterpret_cast<const char*>(&length), sizeof(length));
}

// As many rows a message as fit; a longer one goes alone.
class RaggedSource final : public ChunkSource<proto::RaggedChunk> {
 public:
  // `rows` in the request or in `copy`.
  RaggedSource(ShardReader reader, NodeTypeId type, int32_t column, std::vector<uint64_t> copy,
               absl::Span<const uint64_t> rows, const Limits& limits)
      : reader_(std::move(reader)),
        type_(type),
        column_(column),
        copy_(std::move(copy)),
        rows_(rows),
        chunk_bytes_(limits.max_chunk_bytes) {}

  absl::StatusOr<Piece> Next(proto::RaggedChunk* chunk, IsGone) override {
    if (rows_.empty()) return Piece::kNothing;
    size_t taken = 0;
    VICINITY_RETURN_IF_ERROR(reader_.ReadRagged(
        type_, column_, rows_.subspan(at_),
        [&] {
          chunk->Clear();
          taken = 0;
        },
        [&](size_t, std::string_view row) {
          if (taken > 0 && !Fits(*chunk, row)) return false;
          AppendLength(static_cast<uint32_t>(row.size()), chunk->mutable_lengths());
          chunk->mutable_rows()->append(row.data(), row.size());
          ++taken;
          return true;
        }));
    chunk->set_first(at_);
    chunk->set_version(reader_.version());
    chunk->set_term(reader_.term());
    at_ += taken;
    return at_ < rows_.size() ? Piece::kMore : Piece::kLast;
  }

 private:
  // Rows without bytes end a chunk, too, by their lengths.
  bool Fits(const proto::RaggedChunk& chunk, std::string_view row) const {
    const size_t bytes = chunk.lengths().size() + chunk.rows().size();
    return static_cast<int64_t>(bytes + sizeof(uint32_t) + row.size()) <= chunk_bytes_;
  }

  const ShardReader reader_;
  const NodeTypeId type_;
  const int32_t column_;
  const std::vector<uint64_t> copy_;
  const absl::Span<const uint64_t> rows_;
  const int64_t chunk_bytes_;
  size_t at_ = 0;
};

absl::StatusOr<int32_t> FindColumn(const NodeTypeSpec& spec, const proto::RaggedRequest& request) {
  if (request.column() == 0) {
    if (spec.id_kind == IdKind::kString) return kNamesColumn;
    return absl::InvalidArgumentError(
        absl::StrCat("nodes of type \"", spec.name, "\" have integer ids, no names"));
  }
  const int64_t column = int64_t{request.column()} - 1;
  if (column >= 0 && column < static_cast<int64_t>(spec.ragged.size())) {
    return static_cast<int32_t>(column);
  }
  return absl::InvalidArgumentError(absl::StrCat("ragged column ", column, " of type \"", spec.name,
                                                 "\" does not exist, there are ",
                                                 spec.ragged.size()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChunkSource<proto::RaggedChunk>>> FetchRagged(
    const ServerState& state, const proto::RaggedRequest& request) {
  VICINITY_ASSIGN_OR_RETURN(ShardReader reader, FindReader(state, request));
  const Schema& schema = state.dataset->schema();
  VICINITY_ASSIGN_OR_RETURN(const NodeTypeId type, FindNodeType(schema, request.node_type()));
  const NodeTypeSpec& spec = schema.node_types[type.value];
  VICINITY_ASSIGN_OR_RETURN(const int32_t column, FindColumn(spec, request));
  std::vector<uint64_t> copy;
  VICINITY_ASSIGN_OR_RETURN(const absl::Span<const uint64_t> rows,
                            ReadIds("rows", request.rows(), state.limits, &copy));
  VICINITY_RETURN_IF_ERROR(CheckRows(rows, reader.num_nodes(type), reader.shard(), spec.name));
  return std::make_unique<RaggedSource>(std::move(reader), type, column, std::move(copy), rows,
                                        state.limits);
}

int64_t ReplyBytes(const ServerState& state, const proto::RaggedRequest& request) {
  const absl::StatusOr<const Shard*> shard =
      FindShard(state, request.fingerprint(), request.shard());
  const Schema& schema = state.dataset->schema();
  const absl::StatusOr<NodeTypeId> type = FindNodeType(schema, request.node_type());
  if (!shard.ok() || !type.ok()) return 0;
  const absl::StatusOr<int32_t> column = FindColumn(schema.node_types[type->value], request);
  if (!column.ok()) return 0;
  const NodeTable& nodes = (*shard)->nodes(*type);
  if (nodes.num_nodes() == 0) return 0;
  const WideBytes bytes = nodes.ragged_column(*column).bytes.size();
  const WideBytes num_rows = request.rows().size() / kIdBytes;
  return ClampBytes(num_rows * (bytes / nodes.num_nodes() + sizeof(uint32_t)));
}

}  // namespace vicinity
