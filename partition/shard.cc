#include "partition/shard.h"

#include <utility>

namespace vicinity {

Shard::Shard(ShardId id, std::vector<std::unique_ptr<MappedFile>> files,
             std::vector<NodeTable> nodes, std::vector<EdgeTable> edges)
    : id_(id), files_(std::move(files)), nodes_(std::move(nodes)), edges_(std::move(edges)) {
  for (const std::unique_ptr<MappedFile>& file : files_) {
    mapped_bytes_ += static_cast<int64_t>(file->bytes().size());
  }
}

}  // namespace vicinity
