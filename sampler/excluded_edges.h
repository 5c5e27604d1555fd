// Edges that a minibatch does not draw, such as those that a link predictor is asked about: with
// them the answer would stand in its neighbourhood.
//
// They are left out of the lists before anything is drawn, so that a target has its whole fanout of
// those that are left, each as likely as if the others had never been.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "proto/common/ids.h"

namespace vicinity {

// Every edge from this source to the target with this index among those of a request.
struct ExcludedEdge {
  uint32_t target = 0;
  int64_t source = 0;  // a global id
};

inline bool operator==(const ExcludedEdge& a, const ExcludedEdge& b) {
  return a.target == b.target && a.source == b.source;
}

// Of one minibatch.
//
// Threads: any number may read.
class ExcludedEdges {
 public:
  // Every edge of the type from one node to the other, by global ids, parallel ones as well.
  void Add(EdgeTypeId type, int64_t source, int64_t target);

  bool empty() const { return by_type_.empty(); }
  // Those of a hop's targets, by rising index and then by source. Cost: a look for each target if
  // the type has any. Memory: those of a target for each time that it comes, as in disjoint trees
  // it may; of more than kMost it gives kMost + 1.
  static constexpr size_t kMost = size_t{1} << 24;
  std::vector<ExcludedEdge> Of(EdgeTypeId type, absl::Span<const int64_t> targets) const;

 private:
  using SourcesByTarget = absl::flat_hash_map<int64_t, std::set<int64_t>>;
  std::vector<SourcesByTarget> by_type_;
};

}  // namespace vicinity
