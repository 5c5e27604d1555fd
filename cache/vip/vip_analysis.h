// Runs a VIP analysis (cache/vip/vip.h) over a graph that has been prepared: group of homes by
// group, hop by hop.
//
//   for each group of up to kMaxVipLanes homes, side by side in vectors:
//     seeds of each home -> c_0
//     for each hop:
//       VipScatter   where an edge type has no reverse: targets add up what their sources are sent
//       VipGather    joins that with what comes along edge types with a reverse -> c_hop
//     c_L -> the scores of these homes
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cache/vip/bundled_messages.h"
#include "cache/vip/seed_chances.h"
#include "cache/vip/vip_gather.h"
#include "cache/vip/vip_graph.h"
#include "cache/vip/vip_scatter.h"
#include "cache/vip/vip_scores.h"
#include "cache/vip/vip_state.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"

namespace vicinity {

// Threads:  one; it uses the graph's number of threads itself.
// Lifetime: graph and `links` must outlive it.
// Memory:   VipMemoryBytes.
class VipAnalysis {
 public:
  // The chance of each node to be a seed of a home, or an error.
  using ChancesOfHome = std::function<absl::StatusOr<std::vector<SeedChances>>(int home)>;

  // `links`: what the homes' seeds are, or null; `link_chances`, by home: of one to be chosen.
  VipAnalysis(const VipGraph& graph, int32_t num_homes, const LinkEdges* links,
              std::vector<float> link_chances);

  // Call it once. ResourceExhausted: no memory; else what `chances_of` said, with the home.
  absl::StatusOr<VipScores> Run(const ChancesOfHome& chances_of, Progress* progress);

 private:
  // Homes [first, first + size), side by side in `lanes`.
  struct Group {
    int first = 0;
    int size = 0;
    int lanes = 0;
  };

  int32_t num_node_types() const;
  absl::Status RunGroup(const ChancesOfHome& chances_of);
  absl::Status MakeStates();
  absl::Status AddSeeds(const ChancesOfHome& chances_of);
  void RunHop(int hop);
  // Where c_hop of a type's nodes is kept: in their records, after the last hop in the scores.
  VipRows RowsOf(NodeTypeId type, int hop);

  const VipGraph& graph_;
  const int32_t num_homes_;
  const std::vector<float> link_chances_;
  LinkHelp help_;                 // of the group at work
  std::vector<VipState> states_;  // by node type, of the group at work
  VipScatter scatter_;
  VipGather gather_;
  VipScores scores_;
  Group group_;  // the one at work
  Progress* progress_ = nullptr;
  int64_t done_ = 0;  // edges
};

}  // namespace vicinity
