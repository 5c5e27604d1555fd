#include "cache/vip/expected_rows.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "cache/vip/vip.h"
#include "proto/common/ids.h"

namespace vicinity {

MissCurve::MissCurve(std::vector<float> probabilities) {
  std::vector<float> sorted = std::move(probabilities);
  sorted.erase(std::remove_if(sorted.begin(), sorted.end(), [](float p) { return !(p > 0); }),
               sorted.end());
  std::sort(sorted.begin(), sorted.end(), std::greater<float>());
  beyond_.resize(sorted.size() + 1);
  for (size_t i = sorted.size(); i > 0; --i) {
    beyond_[i - 1] = beyond_[i] + static_cast<double>(sorted[i - 1]);
  }
}

double MissCurve::RowsPerBatch(int64_t cache_rows) const {
  return beyond_[std::clamp<int64_t>(cache_rows, 0, num_nodes())];
}

int64_t MissCurve::CacheFor(double rows) const {
  const auto enough =
      std::lower_bound(beyond_.begin(), beyond_.end(), std::max(rows, 0.0), std::greater<double>());
  return enough - beyond_.begin();
}

MissCurve RemoteRows(const VipScores& scores, int32_t home, absl::Span<const NodeTypeId> types,
                     const IsLocal& is_local) {
  std::vector<float> remote;
  for (int32_t type = 0; type < static_cast<int32_t>(scores.values.size()); ++type) {
    if (!types.empty() && std::find(types.begin(), types.end(), NodeTypeId{type}) == types.end()) {
      continue;
    }
    const int64_t num_nodes = static_cast<int64_t>(scores.values[type].size()) / scores.num_homes;
    for (int64_t node = 0; node < num_nodes; ++node) {
      const float score = scores.at({type}, {node}, home);
      if (score > 0 && !is_local({type}, {node})) remote.push_back(score);
    }
  }
  return MissCurve(std::move(remote));
}

}  // namespace vicinity
