// Which positions of a neighbour list a target draws.
//
// The words for a target are the stream of NodeDraws (proto/common/random.h), taken in the order in
// which the simple algorithm would take them; common cases are only done in another way.
#pragma once

#include <cstdint>

#include "absl/container/flat_hash_set.h"

namespace vicinity {

// Threads: one at a time.
class PositionChooser {
 public:
  // `fanout` > 0, or kAllNeighbors.
  PositionChooser(int64_t fanout, bool replace, uint64_t stream);

  // How many positions a list of `degree` gives.
  uint64_t CountFor(uint64_t degree) const {
    if (all_ || degree == 0) return degree;
    return replace_ || degree > fanout_ ? fanout_ : degree;
  }

  // Writes CountFor(degree) positions in [begin, begin + degree) to `out`. Without replacement
  // every subset is equally likely; lists that are taken whole are in order.
  void Choose(uint64_t begin, uint64_t degree, uint64_t key, uint32_t tree, int64_t* out);

 private:
  bool ChooseFew(uint64_t begin, uint32_t degree, uint64_t key, uint32_t tree, int64_t* out) const;
  void ChooseAny(uint64_t begin, uint64_t degree, uint64_t key, uint32_t tree, int64_t* out);

  const bool all_;
  const bool replace_;
  const uint64_t fanout_;
  const uint64_t stream_;
  absl::flat_hash_set<int64_t> taken_;
};

}  // namespace vicinity
