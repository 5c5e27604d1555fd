// One ragged column of an import: opened, described and written.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partition/ingest/formats/array_source.h"
#include "partition/schema/schema.h"
#include "partition/writing/dataset_writer.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "proto/import.pb.h"

namespace vicinity {

struct ImportRagged {
  RaggedSpec spec;
  std::unique_ptr<ArraySource> offsets;
  std::unique_ptr<ArraySource> values;
  std::unique_ptr<ArraySource> indices;  // of sparse ones
  // In place of all these: the same text, for its lengths and for its bytes.
  std::unique_ptr<ArraySource> text_lengths;
  std::unique_ptr<ArraySource> text;
};

// What ArraySource::Open says; InvalidArgument naming the column: arrays that are missing, too many
// or not of one value a row, indices without num_columns, text that is no text file, a type that
// columns cannot have.
absl::StatusOr<ImportRagged> OpenRagged(const proto::RaggedSource& column,
                                        const ArraySource::Options& options);

// Writes all rows as the ragged column `index` of a type of `num_nodes` nodes in `shard`.
// InvalidArgument naming array and row: another number of rows, offsets that fall or do not end
// with the values, indices out of range or twice in a row, a row above kMaxRowBytes, values that do
// not fit. Memory: 8 bytes a node, and a chunk of values.
struct RaggedPlace {
  ShardId shard{};
  NodeTypeId type{};
  int index = 0;
  int64_t num_nodes = 0;
};
absl::Status WriteRagged(ImportRagged* column, const RaggedPlace& place, DatasetWriter* writer,
                         Progress* progress);

}  // namespace vicinity
