// Messages of the VIP analysis where no reverse tells a node's out-neighbours: every target sends
// to the nodes in its list.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "cache/vip/bundled_messages.h"
#include "cache/vip/vip_graph.h"
#include "cache/vip/vip_state.h"
#include "partition/dataset/shard.h"
#include "proto/common/ids.h"

namespace vicinity {

// Threads that an owner of nodes can be named among.
inline constexpr int kMaxVipThreads = 256;

// Threads:  one at a time; it uses the graph's number of threads itself.
// Lifetime: what it was made from must outlive it.
class VipScatter {
 public:
  // How many edges of the call's are done; called by one thread, now and then.
  using Progress = std::function<void(int64_t)>;

  // `states`, by node type, have sums where messages arrive; `help` as for BundledMessages.
  VipScatter(const VipGraph& graph, const LinkHelp& help, std::vector<VipState>* states);

  // Adds the messages of one hop along the edge types without a reverse by which nodes of `target`
  // draw nodes of `source`, to the sums of the latter: sum becomes 1 - (1 - sum) prod (1 - m_hop),
  // the same bits for any number of threads. Returns how many edges those are.
  int64_t Run(NodeTypeId target, NodeTypeId source, int hop, const Progress& progress);

 private:
  // Which thread adds to which nodes: stripes of 64 nodes dealt out in turn, so that the hot nodes,
  // which lie together at the front of a shard, are everybody's. One owner a node means no atomics
  // and one order of additions.
  class Stripes {
   public:
    explicit Stripes(int num_threads);
    int OwnerOf(uint64_t node) const { return owner_[(node >> 6) % owner_.size()]; }

   private:
    std::array<uint8_t, kMaxVipThreads> owner_;
  };

  bool only_new() const;
  bool IsMet(const VipRecords& records, int64_t node, int hop) const;
  void Deliver(const double* messages, int64_t source, int64_t self, int thread, double* met) const;
  void Scatter(EdgeTypeId type, const Shard& shard, int hop, int thread,
               const Progress& progress) const;
  void ScatterBundles(const std::vector<EdgeTypeId>& types, const Shard& shard, int hop,
                      int thread) const;

  const VipGraph& graph_;
  const LinkHelp& help_;
  std::vector<VipState>& states_;
  const Stripes stripes_;
};

}  // namespace vicinity
