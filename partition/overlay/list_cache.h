// Changed lists as they were put together, those that were used last, so that a list is put
// together once a change and not once a reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "partition/dataset/shard_overlay.h"
#include "proto/common/mutex.h"

namespace vicinity {

// Threads: any number.
class ListCache {
 public:
  // Of a list that has changed `changes` times.
  struct Key {
    int32_t edge_type;
    uint64_t row;
    uint64_t changes;

    friend bool operator==(const Key& a, const Key& b) {
      return std::tie(a.edge_type, a.row, a.changes) == std::tie(b.edge_type, b.row, b.changes);
    }
    template <typename H>
    friend H AbslHashValue(H h, const Key& key) {
      return H::combine(std::move(h), key.edge_type, key.row, key.changes);
    }
  };

  // Lists of more bytes than all may have together are not kept.
  explicit ListCache(int64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  ChangedListPtr Find(const Key& key);  // null: it is not here
  void Keep(const Key& key, ChangedListPtr list);
  int64_t bytes() const;

 private:
  struct Entry {
    Key key;
    ChangedListPtr list;
    int64_t bytes;
  };
  static int64_t BytesOf(const ChangedList& list);

  const int64_t limit_bytes_;
  mutable Mutex mu_;
  std::list<Entry> entries_ ABSL_GUARDED_BY(mu_);  // the last used first
  absl::flat_hash_map<Key, std::list<Entry>::iterator> places_ ABSL_GUARDED_BY(mu_);
  int64_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace vicinity
