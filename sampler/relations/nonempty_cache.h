// Which lists of shards are not empty (sampler/relations/nonempty_lists.h), found once for who
// draws along many edge types again and again.
//
// At first all lists are looked at. That is counted, and once they are as many as an eighth of what
// a pass over the offsets would look at, the pass is made, beside the calls: so a few calls never
// pay for a graph, and many pay for the pass no more than they have saved soon.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "partition/dataset/shard.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/common/mutex.h"
#include "sampler/relations/nonempty_lists.h"
#include "sampler/rules/background_pass.h"

namespace vicinity {

inline constexpr int64_t kDefaultNonemptyBytes = int64_t{256} << 20;

// Threads:  any number of callers; one thread of its own, while it looks.
// Lifetime: shards must outlive it.
// Memory:   max_bytes at most, for all shards and node types together; those that are asked for
//           first have it.
class NonemptyCache {
 public:
  NonemptyCache(const Schema& schema, int64_t max_bytes);
  NonemptyCache(const NonemptyCache&) = delete;
  NonemptyCache& operator=(const NonemptyCache&) = delete;

  // Of the nodes of a type, along all edge types that end there; to who is about to look at so many
  // of their lists. Null: it is not known, or no help, because one edge type ends there, more than
  // half of the lists have edges, or there is no room. What it points to lives as long as this.
  const NonemptyLists* Find(const Shard& shard, NodeTypeId target_type, int64_t num_lists);
  // The number that an edge type has in the lists of the nodes that it ends in.
  size_t NumberOf(EdgeTypeId edge_type) const { return numbers_[edge_type.value]; }

  int64_t num_bytes() const;

 private:
  struct Entry {
    bool is_hopeless = false;
    int64_t num_asked = 0;  // lists, since it was last looked for
    std::optional<NonemptyLists> lists;
  };
  using Key = std::pair<const Shard*, int32_t>;  // a node type's

  void Look(const Key& key);

  const int64_t max_bytes_;
  std::vector<std::vector<EdgeTypeId>> ending_in_;  // by node type
  std::vector<size_t> numbers_;                     // by edge type
  mutable Mutex mutex_;
  std::map<Key, Entry> entries_ ABSL_GUARDED_BY(mutex_);  // whose elements stay where they are
  int64_t num_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  BackgroundPass pass_;  // started under mutex_; the first to go
};

}  // namespace vicinity
