// Ids of what is new in a live graph: a shard numbers its own without asking another, and who owns
// an id is still arithmetic.
#pragma once

#include <cstdint>

#include "proto/common/ids.h"

namespace vicinity {

// Of one type of nodes or edges, of which the files have `in_files` over all shards: the i-th new
// one of a shard is in_files + i x num_shards + shard.
class GrownIds {
 public:
  GrownIds(int64_t in_files, int32_t num_shards) : in_files_(in_files), num_shards_(num_shards) {}

  bool IsNew(int64_t id) const { return id >= in_files_; }
  int64_t IdOf(ShardId shard, int64_t i) const { return in_files_ + i * num_shards_ + shard.value; }
  // Of new ids:
  ShardId OwnerOf(int64_t id) const {
    return {static_cast<int32_t>((id - in_files_) % num_shards_)};
  }
  int64_t NumberOf(int64_t id) const { return (id - in_files_) / num_shards_; }

 private:
  const int64_t in_files_;
  const int64_t num_shards_;
};

}  // namespace vicinity
