// Messages of the VIP analysis where a reverse tells a node's out-neighbours: every node gathers
// from the nodes in its list.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cache/vip/bundled_messages.h"
#include "cache/vip/vip_graph.h"
#include "cache/vip/vip_kernel.h"
#include "cache/vip/vip_state.h"
#include "proto/common/ids.h"

namespace vicinity {

// Where a hop's result goes: the first `width` lanes of each node.
struct VipRows {
  float* first = nullptr;  // node 0's
  int64_t stride = 0;      // from one node's to the next one's
  int width = 0;

  float* of(int64_t node) const { return first + node * stride; }
};

// Threads:  one at a time; it uses the graph's number of threads itself.
// Lifetime: what it was made from must outlive it.
class VipGather {
 public:
  // How many edges of the call's are done; called by one thread, now and then.
  using Progress = std::function<void(int64_t)>;

  // `states`, by node type; `help` as for BundledMessages.
  VipGather(const VipGraph& graph, const LinkHelp& help, const std::vector<VipState>* states);

  // Finds c_hop of all nodes of one type: c_0, joined with what VipScatter has summed up, joined
  // with the messages along the edge types that have a reverse. The same bits for any number of
  // threads. Returns how many edges those are.
  int64_t Run(NodeTypeId type, int hop, const VipRows& out, const Progress& progress) const;

 private:
  // An edge type whose messages reach nodes by their own lists, and those lists.
  struct GatheredList {
    VipRelation relation;
    EdgeTypeId list;
  };

  int32_t num_node_types() const { return static_cast<int32_t>(states_.size()); }
  bool only_new() const;
  std::vector<GatheredList> SingleLists(NodeTypeId type, int hop) const;
  std::vector<BundledMessages> BundledLists(NodeTypeId type, int hop) const;
  static int64_t CountEdges(const std::vector<GatheredList>& lists, const VipGraph::Chunk& chunk);

  const VipGraph& graph_;
  const LinkHelp& help_;
  const std::vector<VipState>& states_;
};

}  // namespace vicinity
