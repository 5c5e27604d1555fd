#include "partition/writing/weights_builder.h"

#include <algorithm>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/dataset/alias_table.h"
#include "partition/dataset/file_header.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/shard_files.h"
#include "partition/writing/weight_table.h"
#include "proto/common/ids.h"
#include "proto/common/parallel.h"
#include "proto/common/progress.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr int64_t kTargetsAPiece = 1 << 14;

IdArray IdsOf(const OutputArray& array) {
  return array.row_bytes == 4 ? IdArray(absl::Span<const uint32_t>(array.as<uint32_t>()))
                              : IdArray(absl::Span<const uint64_t>(array.as<uint64_t>()));
}

// The weights of one edge type in one shard, as they were written.
WeightedLists WrittenLists(const Schema& schema, ShardId shard, EdgeTypeId type,
                           const OutputFiles& files) {
  const EdgeTypeSpec& spec = schema.edge_types[type.value];
  const int column = spec.FindColumn(spec.weight_column);
  const OutputArray weights = files.at(EdgeColumnPath(schema, shard, type, column));
  WeightedLists lists;
  lists.offsets = files.at(OffsetsPath(schema, shard, type)).as<uint64_t>();
  lists.edge_ids = IdsOf(files.at(EdgeIdsPath(schema, shard, type)));
  lists.weights = {weights.data, weights.num_rows, weights.row_bytes};
  lists.dtype = spec.columns[column].dtype;
  return lists;
}

absl::Status FillWeights(const WeightedLists& lists, absl::Span<AliasEntry> out) {
  const int64_t num_targets = lists.num_targets();
  const int64_t num_pieces = (num_targets + kTargetsAPiece - 1) / kTargetsAPiece;
  return ForEachInParallel(num_pieces, NoProgress(), [&](int64_t piece) -> absl::StatusOr<int64_t> {
    WeightTable weights(lists);
    const int64_t begin = piece * kTargetsAPiece;
    const int64_t end = std::min(begin + kTargetsAPiece, num_targets);
    for (int64_t row = begin; row < end; ++row) {
      VICINITY_ASSIGN_OR_RETURN(const auto table, weights.Make(row));
      std::copy(table.begin(), table.end(), out.begin() + lists.begin(row));
    }
    return end - begin;
  });
}

}  // namespace

absl::Status BuildWeights(const Schema& schema, const Book& book, const std::string& directory,
                          OutputFiles* files) {
  for (int32_t s = 0; s < book.num_shards(); ++s) {
    for (int32_t e = 0; e < static_cast<int32_t>(schema.edge_types.size()); ++e) {
      const EdgeTypeSpec& spec = schema.edge_types[e];
      if (spec.weight_column.empty()) continue;
      const WeightedLists lists = WrittenLists(schema, {s}, {e}, *files);
      VICINITY_ASSIGN_OR_RETURN(const OutputArray out,
                                files->Add(WeightsPath(schema, {s}, {e}), FileKind::kWeights,
                                           lists.weights.num_rows, sizeof(AliasEntry)));
      const std::string column =
          EdgeColumnPath(schema, {s}, {e}, spec.FindColumn(spec.weight_column));
      VICINITY_RETURN_IF_ERROR(
          At(absl::StrCat(directory, "/", column), FillWeights(lists, out.as<AliasEntry>())));
    }
  }
  return absl::OkStatus();
}

}  // namespace vicinity
