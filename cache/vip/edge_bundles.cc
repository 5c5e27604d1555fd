#include "cache/vip/edge_bundles.h"

#include <algorithm>
#include <cstdint>

#include "cache/vip/edge_weights.h"
#include "partition/dataset/base_views.h"

namespace vicinity {

void EdgeBundles::Add(const BaseLists& edges, const EdgeWeights& weights, int64_t row) {
  const size_t first = parts_.size();
  const int64_t begin = edges.begin(row);
  for (int64_t i = begin; i < begin + edges.degree(row); ++i) {
    const int64_t neighbor = edges.source(i);
    const double amount = weights[i];
    if (parts_.size() > first && parts_.back().neighbor == neighbor) {
      ++parts_.back().count;
      parts_.back().amount += amount;
    } else {
      parts_.push_back({neighbor, num_lists_, 1, amount});
    }
  }
  ++num_lists_;
}

void EdgeBundles::Join() {
  if (num_lists_ < 2) return;
  std::sort(parts_.begin(), parts_.end(), [](const Part& a, const Part& b) {
    return a.neighbor != b.neighbor ? a.neighbor < b.neighbor : a.list < b.list;
  });
}

}  // namespace vicinity
