// Which files a shard is made of: their names, kinds and strides, as docs/formats.md tells.
// One place for those who write shards and those who open them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partition/dataset/book.h"
#include "partition/dataset/file_header.h"
#include "partition/dataset/shard.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/manifest.pb.h"

namespace vicinity {

std::string ShardFolder(ShardId shard);  // "shard-00000"

// Relative paths, '/' between parts.
std::string KeysPath(const Schema& schema, ShardId shard, NodeTypeId type);
// Of a ragged column, or kNamesColumn.
std::string RaggedOffsetsPath(const Schema& schema, ShardId shard, NodeTypeId type, int column);
std::string RaggedBytesPath(const Schema& schema, ShardId shard, NodeTypeId type, int column);
std::string NodeColumnPath(const Schema& schema, ShardId shard, NodeTypeId type, int column);
std::string DirectoryKeysPath(const Schema& schema, ShardId shard, NodeTypeId type);
std::string DirectoryNodesPath(const Schema& schema, ShardId shard, NodeTypeId type);
std::string OffsetsPath(const Schema& schema, ShardId shard, EdgeTypeId type);
std::string SourcesPath(const Schema& schema, ShardId shard, EdgeTypeId type);
std::string EdgeIdsPath(const Schema& schema, ShardId shard, EdgeTypeId type);
std::string EdgeColumnPath(const Schema& schema, ShardId shard, EdgeTypeId type, int column);
std::string WeightsPath(const Schema& schema, ShardId shard, EdgeTypeId type);
// Of the stored index of a column.
std::string NodeIndexPath(const Schema& schema, ShardId shard, NodeTypeId type, int column);
std::string EdgeIndexPath(const Schema& schema, ShardId shard, EdgeTypeId type, int column);

// 4 where the type has fewer than 2^32 nodes, else 8.
int64_t StoredNodeIdBytes(int64_t num_nodes);

// All files that the schema makes of a shard, in the order in which a manifest lists them.
std::vector<std::string> ShardPaths(const Schema& schema, ShardId shard);

// DataLoss for an index of a column that is not there, has several values a row or an index
// already, or with other files than the shards' index files.
absl::Status CheckIndexes(const Schema& schema, const proto::Manifest& manifest);

// Maps the files that the entry and the indexes list. Checks sizes, headers, row counts that must
// agree, and the first and last of every array of offsets: nothing that takes longer for more rows.
// DataLoss naming the file; FailedPrecondition for a newer file.
struct ShardSource {
  std::string directory;
  uint32_t format_version = 0;  // of the manifest
  const Schema* schema = nullptr;
  const Book* book = nullptr;
  ShardId shard{0};
  const proto::ShardEntry* entry = nullptr;
  absl::Span<const proto::Index* const> indexes{};  // which CheckIndexes has found right
};
absl::StatusOr<std::unique_ptr<Shard>> MapShard(const ShardSource& source);

}  // namespace vicinity
