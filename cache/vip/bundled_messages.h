// Messages of the VIP analysis between two node types where each neighbour's edges of all types
// have to be looked at together: weighted ones, and parallel ones.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "cache/vip/draw_chance.h"
#include "cache/vip/edge_bundles.h"
#include "cache/vip/seed_chances.h"
#include "cache/vip/vip_graph.h"
#include "cache/vip/vip_kernel.h"
#include "partition/dataset/shard.h"
#include "proto/common/ids.h"

namespace vicinity {

// How likely both ends of an edge are seeds because it is a link that a batch is about.
struct LinkHelp {
  const LinkEdges* edges = nullptr;  // null: seeds are no such links
  int first_home = 0;                // of the group at work
  std::vector<float> chances;        // of each home of the group to choose a given one of its links
};

// Records' chances of these edge types are rates (cache/vip/draw_chance.h).
//
// Threads:  one at a time; copy it for another.
// Lifetime: the graph and what records point to must outlive it.
class BundledMessages {
 public:
  // `types`: the edge types by which nodes v of one type draw nodes u of another; all with a
  // reverse, or none. `help` must outlive it.
  BundledMessages(const VipGraph& graph, const VipRecords& v_records,
                  absl::Span<const EdgeTypeId> types, const LinkHelp& help);

  // Calls deliver(u, messages) for each neighbour u in the lists of v, at `row` of the shard: where
  // u has no way to v.
  template <typename Deliver>
  void FromTarget(const Shard& shard, int64_t row, int64_t v, int hop, bool only_new,
                  const Deliver& deliver) {
    Collect(types_, shard, row);
    double messages[8];
    for (size_t first = 0, last; first < bundles_.parts().size(); first = last) {
      last = EndOf(first);
      ChancesOfTarget(v, first, last, hop);
      LonelyMessages({v_records_, v, v_chances_.data()}, together_.data(), hop, only_new, messages);
      deliver(bundles_.parts()[first].neighbor, messages);
    }
  }

  // For Gather, where all types have a reverse: what u is.
  void SetSources(const VipRecords& u_records);

  // Lets `met` become 1 - (1 - met) prod over v of (1 - m_hop(v, u)) for the v in the lists of u,
  // at `row` of the shard.
  void Gather(const Shard& shard, int64_t row, int64_t u, int hop, bool only_new, double* met);

 private:
  // A list along `type`; the types by which its neighbours draw its owner in return.
  struct List {
    EdgeTypeId type;
    std::vector<DrawRule> rules;  // by hop
    std::vector<size_t> returns;  // in types_
  };

  void Collect(const std::vector<List>& lists, const Shard& shard, int64_t row);
  size_t EndOf(size_t first) const;
  void ChancesOfTarget(int64_t v, size_t first, size_t last, int hop);
  void ChancesOfPair(int64_t v, int64_t u, size_t first, size_t last, int hop);
  static void Join(const VipRecords& records, int64_t node, int slot,
                   const std::vector<DrawRule>& rules, double amount, int hop,
                   std::vector<float>* chances);

  void AddLinks(EdgeTypeId type, int64_t target, int64_t count);

  const VipGraph* graph_;
  const LinkHelp* help_;
  VipRecords v_records_;
  VipRecords u_records_;
  std::vector<List> types_;  // lists of v's
  std::vector<List> lists_;  // lists of u's
  EdgeBundles bundles_;
  std::vector<float> v_chances_;  // of the bundle at hand, by hop
  std::vector<float> u_chances_;
  std::vector<float> together_;  // by home
};

}  // namespace vicinity
