#include "partition/ingest/weighted_pick.h"

#include <numeric>

namespace vicinity {

template <typename Weight>
WeightedPick::WeightedPick(absl::Span<const Weight> weights)
    : total_(std::accumulate(weights.begin(), weights.end(), uint64_t{0})),
      keep_below_(weights.size()),
      alias_(weights.size()) {
  // Every item gets a box of size total_, which its own weight, times the number of items, fills or
  // not; what is missing comes from an item that has more than it needs.
  std::vector<uint32_t> light;
  std::vector<uint32_t> heavy;
  for (size_t i = 0; i < weights.size(); ++i) {
    keep_below_[i] = uint64_t{weights[i]} * weights.size();
    (keep_below_[i] < total_ ? light : heavy).push_back(static_cast<uint32_t>(i));
  }
  while (!light.empty()) {  // then some item is heavy: the boxes' sum is exact
    const uint32_t giver = heavy.back();
    const uint32_t taker = light.back();
    light.pop_back();
    alias_[taker] = giver;
    keep_below_[giver] -= total_ - keep_below_[taker];
    if (keep_below_[giver] < total_) {
      heavy.pop_back();
      light.push_back(giver);
    }
  }
}

template WeightedPick::WeightedPick(absl::Span<const uint32_t>);
template WeightedPick::WeightedPick(absl::Span<const uint64_t>);

}  // namespace vicinity
