// Rows of any number of bytes that are kept for batches to come: those used last, within so many
// bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "proto/common/mutex.h"

namespace vicinity {

// Of several columns. A row counts for its bytes and kEntryBytes, about what its place takes.
//
// Threads: any number at once.
class RaggedCache {
 public:
  static constexpr int64_t kEntryBytes = 160;

  explicit RaggedCache(int64_t most_bytes) : most_bytes_(most_bytes) {}

  // Copies the rows that are held to out[positions[i]] of nodes[i]; the places i of the others
  // behind `missing`.
  void Find(size_t column, absl::Span<const int64_t> nodes, absl::Span<const int64_t> positions,
            std::string* out, std::vector<size_t>* missing);
  // Takes a row, and lets go of those not used for longest that it leaves no room for.
  void Keep(size_t column, int64_t node, const std::string& row);

  int64_t bytes() const;

 private:
  using Key = std::pair<size_t, int64_t>;  // column and node
  struct Entry {
    Key key;
    std::string row;
  };
  static int64_t CostOf(const std::string& row) {
    return static_cast<int64_t>(row.size()) + kEntryBytes;
  }
  void DropLast() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const int64_t most_bytes_;
  mutable Mutex mu_;
  std::list<Entry> entries_ ABSL_GUARDED_BY(mu_);  // the one used last is in front
  absl::flat_hash_map<Key, std::list<Entry>::iterator> places_ ABSL_GUARDED_BY(mu_);
  int64_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace vicinity
