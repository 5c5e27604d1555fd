// What the VIP analysis keeps of the nodes of one type, for a group of homes.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "cache/vip/huge_array.h"
#include "cache/vip/seed_chances.h"
#include "cache/vip/vip_graph.h"
#include "cache/vip/vip_kernel.h"
#include "proto/common/ids.h"

namespace vicinity {

// Homes side by side at most, and in records for so many homes.
inline constexpr int kMaxVipLanes = 8;
int LanesFor(int64_t num_homes);

// Threads: any number may read; whoever writes a node's record or sum is its only one.
struct VipState {
  HugeArray memory;
  VipRecords records;
  std::vector<uint64_t> is_seed;  // a bit a node
  // By node and lane, what messages along edge types without a reverse come to in the hop at work;
  // empty where there are none such.
  std::vector<double> met;
};

// No node is a seed or met yet. Chances to draw are set: of an edge type in bundles the rate that
// chances are found from (cache/vip/draw_chance.h), of others the chance of one edge.
// ResourceExhausted: no memory.
absl::StatusOr<VipState> MakeVipState(const VipGraph& graph, NodeTypeId type, int lanes);

// Sets c_0 of the home in `lane`, for the `num_nodes` nodes of the state's type.
void SetSeeds(const SeedChances& seeds, int64_t num_nodes, int lane, VipState* state);

}  // namespace vicinity
