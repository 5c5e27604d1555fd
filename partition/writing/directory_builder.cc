#include "partition/writing/directory_builder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/dataset/file_header.h"
#include "partition/dataset/shard_files.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

class DirectoryBuilder {
 public:
  DirectoryBuilder(const Schema& schema, const Book& book, OutputFiles* files)
      : schema_(schema), book_(book), files_(files) {}

  absl::Status Build(ShardId shard, NodeTypeId type) {
    VICINITY_ASSIGN_OR_RETURN(const std::vector<Entry> entries, Entries(shard, type));
    return Write(shard, type, entries);
  }

 private:
  using Entry = std::pair<uint64_t, int64_t>;  // a key, and its node's global id

  absl::StatusOr<std::vector<Entry>> Entries(ShardId shard, NodeTypeId type) const;
  absl::Status Write(ShardId shard, NodeTypeId type, const std::vector<Entry>& entries);

  const Schema& schema_;
  const Book& book_;
  OutputFiles* const files_;
};

absl::StatusOr<std::vector<DirectoryBuilder::Entry>> DirectoryBuilder::Entries(
    ShardId shard, NodeTypeId type) const {
  std::vector<Entry> entries;
  entries.reserve(book_.num_nodes(type) / book_.num_shards() + 1);
  for (int32_t s = 0; s < book_.num_shards(); ++s) {
    int64_t node = book_.First(type, {s}).value;
    for (const uint64_t key : files_->at(KeysPath(schema_, {s}, type)).as<uint64_t>()) {
      if (book_.DirectoryShard(key) == shard) entries.emplace_back(key, node);
      ++node;
    }
  }
  std::sort(entries.begin(), entries.end());
  for (size_t i = 1; i < entries.size(); ++i) {
    if (entries[i].first == entries[i - 1].first) {
      return absl::InvalidArgumentError(absl::StrCat(
          "node type ", schema_.node_types[type.value].name, ": nodes ", entries[i - 1].second,
          " and ", entries[i].second, " have the same key ", entries[i].first));
    }
  }
  return entries;
}

absl::Status DirectoryBuilder::Write(ShardId shard, NodeTypeId type,
                                     const std::vector<Entry>& entries) {
  const auto size = static_cast<int64_t>(entries.size());
  VICINITY_ASSIGN_OR_RETURN(
      const OutputArray keys,
      files_->Add(DirectoryKeysPath(schema_, shard, type), FileKind::kDirectoryKeys, size, 8));
  VICINITY_ASSIGN_OR_RETURN(
      const OutputArray nodes,
      files_->Add(DirectoryNodesPath(schema_, shard, type), FileKind::kDirectoryNodes, size,
                  StoredNodeIdBytes(book_.num_nodes(type))));
  for (int64_t i = 0; i < size; ++i) {
    keys.as<uint64_t>()[i] = entries[i].first;
    StoreId(nodes, i, static_cast<uint64_t>(entries[i].second));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status BuildDirectories(const Schema& schema, const Book& book, OutputFiles* files) {
  DirectoryBuilder builder(schema, book, files);
  for (int32_t s = 0; s < book.num_shards(); ++s) {
    for (int32_t t = 0; t < book.num_node_types(); ++t) {
      VICINITY_RETURN_IF_ERROR(builder.Build({s}, {t}));
    }
  }
  return absl::OkStatus();
}

}  // namespace vicinity
