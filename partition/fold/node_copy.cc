#include "partition/fold/node_copy.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "partition/fold/row_pieces.h"
#include "partition/schema/schema.h"
#include "proto/common/parallel.h"
#include "proto/common/status.h"

namespace vicinity {

class NodeCopier {
 public:
  NodeCopier(const FoldSource& source, const KeptNodes& kept, DatasetWriter* writer,
             Progress* progress)
      : source_(source), kept_(kept), writer_(writer), progress_(progress) {}

  absl::StatusOr<WrittenNodes> Copy() {
    WrittenNodes written(writer_->book());
    for (int32_t s = 0; s < source_.num_shards(); ++s) {
      VICINITY_RETURN_IF_ERROR(MakeArrays({s}, &written));
    }
    VICINITY_RETURN_IF_ERROR(ForPieces("writing nodes", AllPieces(), [&](const RowPiece& piece) {
      return CopyRows(piece, written.arrays(piece.shard, {piece.type}));
    }));
    for (int32_t s = 0; s < source_.num_shards(); ++s) {
      for (int32_t t = 0; t < num_types(); ++t) {
        VICINITY_RETURN_IF_ERROR(CopyAllRagged({s}, {t}));
      }
    }
    return written;
  }

 private:
  int32_t num_types() const { return source_.book().num_node_types(); }
  const NodeTypeSpec& spec(NodeTypeId type) const {
    return source_.schema().node_types[type.value];
  }

  absl::Status MakeArrays(ShardId shard, WrittenNodes* written) {
    auto& by_type = written->by_shard_.emplace_back(num_types());
    for (int32_t t = 0; t < num_types(); ++t) {
      VICINITY_ASSIGN_OR_RETURN(by_type[t].keys, writer_->Keys(shard, {t}));
      for (int c = 0; c < static_cast<int>(spec({t}).columns.size()); ++c) {
        VICINITY_ASSIGN_OR_RETURN(by_type[t].columns.emplace_back(),
                                  writer_->Column(shard, {t}, c));
      }
    }
    return absl::OkStatus();
  }

  std::vector<RowPiece> PiecesOf(ShardId shard, NodeTypeId type) const {
    std::vector<RowPiece> pieces;
    AddPieces(shard, type.value, kept_.num_rows(shard, type), &pieces);
    return pieces;
  }
  std::vector<RowPiece> AllPieces() const {
    std::vector<RowPiece> pieces;
    for (int32_t s = 0; s < source_.num_shards(); ++s) {
      for (int32_t t = 0; t < num_types(); ++t) {
        const std::vector<RowPiece> some = PiecesOf({s}, {t});
        pieces.insert(pieces.end(), some.begin(), some.end());
      }
    }
    return pieces;
  }

  template <typename Work>
  absl::Status ForPieces(std::string_view phase, const std::vector<RowPiece>& pieces,
                         const Work& work) {
    int64_t num_rows = 0;
    for (const RowPiece& piece : pieces) num_rows += piece.end - piece.begin;
    progress_->Begin(phase, num_rows, "nodes");
    VICINITY_RETURN_IF_ERROR(ForEachInParallel(static_cast<int64_t>(pieces.size()), progress_,
                                               [&](int64_t i) -> absl::StatusOr<int64_t> {
                                                 VICINITY_RETURN_IF_ERROR(work(pieces[i]));
                                                 return pieces[i].end - pieces[i].begin;
                                               }));
    progress_->End();
    return absl::OkStatus();
  }

  KeptNodes::Rows RowsOf(const RowPiece& piece) const {
    return kept_.RowsIn(piece.shard, {piece.type}, piece.begin, piece.end);
  }

  absl::Status CopyRows(const RowPiece& piece, const WrittenNodes::Arrays& to) const {
    const ShardReader& reader = source_.reader(piece.shard);
    const KeptNodes::Rows kept = RowsOf(piece);
    VICINITY_RETURN_IF_ERROR(CopyColumn(reader, reader.KeysColumn({piece.type}), kept, to.keys));
    for (size_t c = 0; c < to.columns.size(); ++c) {
      const ShardColumn column = reader.NodeColumn({piece.type}, static_cast<int32_t>(c));
      VICINITY_RETURN_IF_ERROR(CopyColumn(reader, column, kept, to.columns[c]));
    }
    return absl::OkStatus();
  }
  static absl::Status CopyColumn(const ShardReader& reader, const ShardColumn& column,
                                 const KeptNodes::Rows& kept, const OutputArray& to) {
    const auto row_bytes = static_cast<size_t>(to.row_bytes);
    return reader.ReadRows(
        column, kept.rows, [] {},
        [&](size_t i, const char* row) {
          const int64_t at = kept.first + static_cast<int64_t>(i);
          if (row_bytes > 0) std::memcpy(to.data + at * to.row_bytes, row, row_bytes);
        });
  }

  absl::Status CopyAllRagged(ShardId shard, NodeTypeId type) {
    if (spec(type).id_kind == IdKind::kString) {
      VICINITY_RETURN_IF_ERROR(CopyRagged(shard, type, kNamesColumn));
    }
    for (int c = 0; c < static_cast<int>(spec(type).ragged.size()); ++c) {
      VICINITY_RETURN_IF_ERROR(CopyRagged(shard, type, c));
    }
    return absl::OkStatus();
  }

  // First how long each row is, then the rows.
  absl::Status CopyRagged(ShardId shard, NodeTypeId type, int column) {
    VICINITY_ASSIGN_OR_RETURN(const OutputArray offsets,
                              writer_->RaggedOffsets(shard, type, column));
    const absl::Span<uint64_t> ends = offsets.as<uint64_t>();
    const std::vector<RowPiece> pieces = PiecesOf(shard, type);
    VICINITY_RETURN_IF_ERROR(
        ForPieces("measuring lists of values", pieces, [&](const RowPiece& piece) {
          return ReadRagged(piece, column,
                            [&](int64_t at, std::string_view row) { ends[at + 1] = row.size(); });
        }));
    ends[0] = 0;
    for (size_t i = 1; i < ends.size(); ++i) ends[i] += ends[i - 1];
    VICINITY_ASSIGN_OR_RETURN(
        const OutputArray bytes,
        writer_->RaggedBytes(shard, type, column, static_cast<int64_t>(ends.back())));
    return ForPieces("writing lists of values", pieces, [&](const RowPiece& piece) {
      return ReadRagged(piece, column, [&](int64_t at, std::string_view row) {
        std::copy(row.begin(), row.end(), bytes.data + ends[at]);
      });
    });
  }
  // Calls take(its row in the new shard, bytes).
  template <typename Take>
  absl::Status ReadRagged(const RowPiece& piece, int column, const Take& take) const {
    const KeptNodes::Rows kept = RowsOf(piece);
    return source_.reader(piece.shard)
        .ReadRagged(
            {piece.type}, column, kept.rows, [] {},
            [&](size_t i, std::string_view row) {
              take(kept.first + static_cast<int64_t>(i), row);
              return true;
            });
  }

  const FoldSource& source_;
  const KeptNodes& kept_;
  DatasetWriter* const writer_;
  Progress* const progress_;
};

absl::StatusOr<WrittenNodes> CopyNodes(const FoldSource& source, const KeptNodes& kept,
                                       DatasetWriter* writer, Progress* progress) {
  return NodeCopier(source, kept, writer, progress).Copy();
}

}  // namespace vicinity
