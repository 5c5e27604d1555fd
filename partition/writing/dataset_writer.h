// Writes a dataset directory: every file mapped at its final size, filled in any order,
// then checksummed; the manifest comes last, and the directory appears whole or not at all.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partition/dataset/book.h"
#include "partition/dataset/schema.h"
#include "proto/common/file.h"
#include "proto/common/ids.h"
#include "proto/manifest.pb.h"

namespace vicinity {

// One array being written: `rows` (after the file's header), with its stride.
struct OutputArray {
  char* data = nullptr;
  int64_t num_rows = 0;
  int64_t row_bytes = 0;

  template <typename T>
  absl::Span<T> as() const {  // sizeof(T) must divide row_bytes
    return {reinterpret_cast<T*>(data), static_cast<size_t>(num_rows * row_bytes / sizeof(T))};
  }
};

// Threads:  arrays may be filled by several threads; the methods are for one.
// Lifetime: arrays live until Finish() or destruction. Without Finish() nothing is left on disk.
class DatasetWriter {
 public:
  // Writes into `directory`.partial beside it; AlreadyExists if `directory` is there.
  static absl::StatusOr<std::unique_ptr<DatasetWriter>> Create(const std::string& directory,
                                                               std::string name, Schema schema,
                                                               Book book);
  ~DatasetWriter();

  const Schema& schema() const;
  const Book& book() const;

  // Sized by the book. Each array of each shard must be asked for exactly once before Finish().
  absl::StatusOr<OutputArray> Keys(ShardId shard, NodeTypeId type);  // uint64
  absl::StatusOr<OutputArray> Column(ShardId shard, NodeTypeId type, int column);
  // STRING types: offsets is uint64[num_nodes + 1].
  absl::StatusOr<OutputArray> NameOffsets(ShardId shard, NodeTypeId type);
  absl::StatusOr<OutputArray> NameBytes(ShardId shard, NodeTypeId type, int64_t num_bytes);
  absl::StatusOr<OutputArray> Offsets(ShardId shard, EdgeTypeId type);  // uint64[n + 1]
  // id_width(type) tells whether these hold uint32 or uint64.
  absl::StatusOr<OutputArray> Sources(ShardId shard, EdgeTypeId type, int64_t num_edges);
  absl::StatusOr<OutputArray> EdgeIds(ShardId shard, EdgeTypeId type, int64_t num_edges);
  absl::StatusOr<OutputArray> EdgeColumn(ShardId shard, EdgeTypeId type, int column,
                                         int64_t num_edges);

  // 4 or 8: bytes of a stored node id of this type. Edge ids: 4 if all fit, see SetEdgeIdBound.
  int64_t NodeIdBytes(NodeTypeId type) const;
  int64_t EdgeIdBytes(EdgeTypeId type) const;
  // Every edge id of the type is below `bound`; call before EdgeIds (default: wide).
  void SetEdgeIdBound(EdgeTypeId type, uint64_t bound);

  // Builds the directories from the keys and the tables of weight columns, checksums, audits when
  // `audit` is null (else keeps and compares: DataLoss naming the type and column that changed),
  // writes the manifest, renames. InvalidArgument if two nodes of a type share a key, naming it, or
  // for a weight that is not finite or below 0, naming file and edge.
  absl::Status Finish(const proto::Audit* audit, const std::string& provenance);

 private:
  struct State;
  explicit DatasetWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Stores `value` at position i of an array of 4- or 8-byte ids.
inline void StoreId(const OutputArray& ids, int64_t i, uint64_t value) {
  if (ids.row_bytes == 4) {
    ids.as<uint32_t>()[i] = static_cast<uint32_t>(value);
  } else {
    ids.as<uint64_t>()[i] = value;
  }
}

}  // namespace vicinity
