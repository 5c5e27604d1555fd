// Which edges meet a condition, found once and kept for who draws among them again.
//
// A condition is known when somebody first draws by it, so nobody has prepared for it. At first the
// lists of targets are gone through; what that costs is counted (in edges), and once it is as much
// as going through all edges of the shard would have been, that is done, beside the calls, and
// its outcome is kept. So a few calls never pay for a graph, and many never pay more than twice.
#pragma once

#include <cstdint>
#include <list>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "partition/dataset/shard_reader.h"
#include "partition/schema/condition.h"
#include "proto/common/ids.h"
#include "proto/common/mutex.h"
#include "sampler/rules/background_pass.h"
#include "sampler/rules/matching_edges.h"

namespace vicinity {

inline constexpr int64_t kDefaultMatchingBytes = int64_t{256} << 20;

// Threads:  any number of callers; one thread of its own, while it looks.
// Lifetime: shards must outlive it.
// Memory:   max_bytes, and what is under way; a condition whose bits alone are more is never kept.
class MatchingCache {
 public:
  explicit MatchingCache(int64_t max_bytes) : max_bytes_(max_bytes) {}
  MatchingCache(const MatchingCache&) = delete;
  MatchingCache& operator=(const MatchingCache&) = delete;

  using Condition = std::shared_ptr<const RowCondition>;

  // Of the edges in the shard's files. Null: not known yet; go through the lists, and say so.
  std::shared_ptr<const MatchingEdges> Find(const Shard& shard, EdgeTypeId edge_type,
                                            const Condition& condition);
  // That so many edges have been looked at for want of it.
  void CountRead(const Shard& shard, EdgeTypeId edge_type, const Condition& condition,
                 int64_t edges);

  int64_t num_bytes() const;
  int num_kept() const;  // conditions

 private:
  struct Entry {
    const Shard* shard = nullptr;
    EdgeTypeId edge_type{};
    Condition condition;
    int64_t edges_read = 0;                      // since it was last looked for
    std::shared_ptr<const MatchingEdges> edges;  // null: not known
  };

  // To the front of those that are kept; a new one where there is none.
  Entry* Touch(const Shard& shard, EdgeTypeId edge_type, const Condition& condition)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Look(const Entry& entry);
  void DropOldest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int64_t max_bytes_;
  mutable Mutex mutex_;
  std::list<Entry> entries_ ABSL_GUARDED_BY(mutex_);  // the latest used first
  int64_t num_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  BackgroundPass pass_;  // started under mutex_; the first to go
};

}  // namespace vicinity
