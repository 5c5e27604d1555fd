// Writes a dataset directory: every file mapped at its final size, filled in any order,
// then checksummed; the manifest comes last, and the directory appears whole or not at all.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partition/dataset/book.h"
#include "partition/schema/schema.h"
#include "partition/writing/output_files.h"
#include "proto/common/ids.h"
#include "proto/manifest.pb.h"

namespace vicinity {

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
  // Of a ragged column, or of STRING types kNamesColumn: offsets is uint64[num_nodes + 1].
  absl::StatusOr<OutputArray> RaggedOffsets(ShardId shard, NodeTypeId type, int column);
  absl::StatusOr<OutputArray> RaggedBytes(ShardId shard, NodeTypeId type, int column,
                                          int64_t num_bytes);
  absl::StatusOr<OutputArray> Offsets(ShardId shard, EdgeTypeId type);  // uint64[n + 1]
  // NodeIdBytes and EdgeIdBytes tell whether these hold uint32 or uint64.
  absl::StatusOr<OutputArray> Sources(ShardId shard, EdgeTypeId type, int64_t num_edges);
  absl::StatusOr<OutputArray> EdgeIds(ShardId shard, EdgeTypeId type, int64_t num_edges);
  absl::StatusOr<OutputArray> EdgeColumn(ShardId shard, EdgeTypeId type, int column,
                                         int64_t num_edges);

  // Bytes of a stored node id of this type, 4 or 8; of an edge id, 4 if SetEdgeIdBound told that
  // all of them fit.
  int64_t NodeIdBytes(NodeTypeId type) const;
  int64_t EdgeIdBytes(EdgeTypeId type) const;
  // Every edge id of the type is below `bound`; call before EdgeIds (default: wide).
  void SetEdgeIdBound(EdgeTypeId type, uint64_t bound);
  // What the manifest says that the dataset is a fold of; by default none.
  void SetFoldedFrom(proto::FoldedFrom folded_from);

  // Builds the directories from the keys, and the tables of weight columns; sums all files; audits
  // the content; writes the manifest; renames the folder. `provenance` is stored in the manifest.
  //
  // FailedPrecondition: an array was never asked for. InvalidArgument: two nodes of a type share a
  // key, which is named, or a weight is not finite or below 0, naming file and edge. DataLoss:
  // `audit`, which may be null, is of other content, naming the type and column that differ.
  absl::Status Finish(const proto::Audit* audit, const std::string& provenance);

 private:
  struct State;
  explicit DatasetWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace vicinity
