// Picking one of many in proportion to whole weights, exactly and in constant time: Walker's alias
// method as Vose built it.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "proto/common/random.h"

namespace vicinity {

// Threads: immutable; any number may pick.
// Memory:  12 bytes an item.
// Cost:    two numbers drawn and one item looked up a pick.
class WeightedPick {
 public:
  WeightedPick() = default;
  // At most 2^32 weights that sum up to something; sum times number must stay below 2^64.
  template <typename Weight>
  explicit WeightedPick(absl::Span<const Weight> weights);

  uint64_t total() const { return total_; }

  // The position of a weight.
  int64_t Pick(NodeDraws* draws) const {
    const uint64_t item = draws->Below(keep_below_.size());
    return static_cast<int64_t>(draws->Below(total_) < keep_below_[item] ? item : alias_[item]);
  }

 private:
  uint64_t total_ = 0;
  std::vector<uint64_t> keep_below_;  // of draws below total_
  std::vector<uint32_t> alias_;       // what the others are
};

extern template WeightedPick::WeightedPick(absl::Span<const uint32_t>);
extern template WeightedPick::WeightedPick(absl::Span<const uint64_t>);

}  // namespace vicinity
