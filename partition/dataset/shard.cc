#include "partition/dataset/shard.h"

#include <utility>

namespace vicinity {

Shard::Shard(ShardId id, std::unique_ptr<FaultList> faults,
             std::vector<std::unique_ptr<VerifiedFile>> files, std::vector<NodeTable> nodes,
             std::vector<EdgeTable> edges)
    : id_(id),
      faults_(std::move(faults)),
      files_(std::move(files)),
      nodes_(std::move(nodes)),
      edges_(std::move(edges)) {
  for (const std::unique_ptr<VerifiedFile>& file : files_) mapped_bytes_ += file->size();
}

}  // namespace vicinity
