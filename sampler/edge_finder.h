// Which edges join pairs of nodes, wherever their lists are.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "proto/common/ids.h"

namespace vicinity {

// Whoever knows.
class EdgeFinder {
 public:
  virtual ~EdgeFinder() = default;

  // Sets joined[i] to whether an edge of the type leads from sources[i] to targets[i], global ids.
  virtual absl::Status FindEdges(EdgeTypeId edge_type, absl::Span<const int64_t> sources,
                                 absl::Span<const int64_t> targets, std::vector<bool>* joined) = 0;
};

}  // namespace vicinity
