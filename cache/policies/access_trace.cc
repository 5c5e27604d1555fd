#include "cache/policies/access_trace.h"

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace vicinity {

void AccessTrace::AddBatch(absl::Span<const int64_t> nodes) {
  uses_.insert(uses_.end(), nodes.begin(), nodes.end());
  ends_.push_back(static_cast<int64_t>(uses_.size()));
}

std::vector<double> AccessTrace::CountUses() const {
  std::vector<double> counts(num_nodes_);
  for (const int64_t node : uses_) ++counts[node];
  return counts;
}

}  // namespace vicinity
