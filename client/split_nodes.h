// A batch's nodes by where their rows are.
#pragma once

#include <cstdint>
#include <vector>

namespace vicinity {

// Those of one type, each with its position in the batch's tensors.
struct SplitNodes {
  std::vector<int64_t> local;  // global ids
  std::vector<int64_t> local_positions;
  std::vector<int64_t> remote;
  std::vector<int64_t> remote_positions;

  int64_t size() const { return static_cast<int64_t>(local.size() + remote.size()); }
};

}  // namespace vicinity
