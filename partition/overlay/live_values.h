// What is said of changes of a shard, by those who make them and those who serve them.
#pragma once

#include <cstdint>
#include <vector>

namespace vicinity {

// What a write survives once it is acknowledged.
enum class Durability : uint8_t {
  kBuffered,  // the end of the process
  kSync,      // a power cut
};

// What became of a batch.
struct AppliedBatch {
  uint64_t version = 0;
  bool repeated = false;  // it had been applied before
  // Of each part of new_nodes and new_edges the id of its first; the others' follow in steps of the
  // number of shards.
  std::vector<int64_t> first_nodes{};
  std::vector<int64_t> first_edges{};
};

// A version of a shard, and how large the shard is then.
struct ShardVersion {
  uint64_t version = 0;
  std::vector<int64_t> num_nodes{};  // of each node type, those in the files and new ones
  std::vector<int64_t> num_edges{};  // of each edge type, likewise; those that were removed count
};

}  // namespace vicinity
