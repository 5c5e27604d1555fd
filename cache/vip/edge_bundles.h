// A node's lists put together: which neighbours it has, and by how many edges of which type.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "cache/vip/edge_weights.h"
#include "partition/dataset/base_views.h"

namespace vicinity {

// Parallel edges lead to the same neighbour: whether a node draws one of them is one question and
// not several.
//
// Threads: one at a time; keep one a thread, it reuses its memory.
class EdgeBundles {
 public:
  // The edges of one list to one neighbour.
  struct Part {
    int64_t neighbor;
    int32_t list;
    int64_t count;
    double amount;  // as many, or the sum of their weights
  };

  void Clear() {
    parts_.clear();
    num_lists_ = 0;
  }
  // The in-edges of `row`, as the list after the last. Edges to one neighbour must lie side by
  // side, as datasets keep them.
  void Add(const BaseLists& edges, const EdgeWeights& weights, int64_t row);
  // Brings the parts of each neighbour together.
  void Join();

  // In order of neighbour, then list, if there are several lists.
  absl::Span<const Part> parts() const { return parts_; }

 private:
  std::vector<Part> parts_;
  int32_t num_lists_ = 0;
};

}  // namespace vicinity
