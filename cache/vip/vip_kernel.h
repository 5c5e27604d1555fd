// The inner loop of the VIP analysis: what one node is met through its neighbours, for several
// homes side by side in a vector.
//
// A node's record holds all that messages along its edges depend on, so that a random access
// fetches it in one or two neighbouring cache lines:
//
//   t_1 .. t_L for each edge type that ends in its node type | seed mark | c_1 | .. | c_(L-1) | c_0
//
// c_0 is last, since it is looked at for seeds alone. c_h is a vector of kLanes homes.
#pragma once

#include <cstdint>

#include "absl/types/span.h"

namespace vicinity {

// Records of the nodes of one type.
struct VipRecords {
  float* data = nullptr;  // aligned to the vector
  int lanes = 0;          // 4 or 8
  int num_hops = 0;       // L
  int head = 0;           // floats before c_1; the last is the seed mark

  // The head of a record with chances for `num_edge_types`.
  static int HeadFor(int num_edge_types, int num_hops, int lanes) {
    return (num_edge_types * num_hops + 1 + lanes - 1) / lanes * lanes;
  }

  int64_t stride() const { return head + int64_t{lanes} * num_hops; }
  float* record(int64_t node) const { return data + node * stride(); }
  // 0 for nodes that are seeds of no home: their c_0 need not be read.
  float& seed_mark(int64_t node) const { return record(node)[head - 1]; }
  float& chance(int64_t node, int slot, int hop) const {  // t_hop, hop >= 1
    return record(node)[slot * num_hops + hop - 1];
  }
  float* met(int64_t node, int hop) const {  // c_hop, hop < L
    return record(node) + head + lanes * (hop == 0 ? num_hops - 1 : hop - 1);
  }
};

// Messages to u from those v that draw it, along an edge type whose reverse is known.
struct VipRelation {
  VipRecords v;
  int v_slot = 0;  // of the edge type by which v draws u
  VipRecords u;
  int u_slot = 0;                       // of its reverse, by which u draws v
  const uint64_t* v_is_seed = nullptr;  // a bit a node
  bool only_new = false;                // Expansion::kNewNodes
  bool one_type = false;                // u and v are of one type: loops are possible
};

// Lets `met`, of kLanes homes, become 1 - (1 - met) prod over v of (1 - m_hop(v, u)) for the v at
// `positions` begin .. end - 1 of `ids`, which are all in range. The same bits on every machine.
template <typename Id>
using GatherIds = void (*)(const VipRelation& relation, absl::Span<const Id> ids, int64_t begin,
                           int64_t end, int64_t u, int hop, double* met);

// The same of ids of either width.
struct GatherMessages {
  GatherIds<uint32_t> narrow = nullptr;
  GatherIds<uint64_t> wide = nullptr;

  void operator()(const VipRelation& relation, absl::Span<const uint32_t> ids, int64_t begin,
                  int64_t end, int64_t u, int hop, double* met) const {
    narrow(relation, ids, begin, end, u, hop, met);
  }
  void operator()(const VipRelation& relation, absl::Span<const uint64_t> ids, int64_t begin,
                  int64_t end, int64_t u, int hop, double* met) const {
    wide(relation, ids, begin, end, u, hop, met);
  }
};

// The gather for so many lanes, the fastest that this processor runs, or the plain one.
GatherMessages FindGather(int lanes, bool plain = false);

// One end of a pair of nodes, and its chance to draw the other in hops 1, 2, ...
struct VipEnd {
  const VipRecords& records;
  int64_t node;
  const float* chances;
};

// m_hop(v, u) of one pair, into `messages`, of kLanes homes. `together`, of as many: the chance
// that both are seeds by one and the same choice, which says nothing about how u is met through v;
// null: none.
void PairMessages(const VipEnd& v, const VipEnd& u, const float* together, int hop, bool only_new,
                  double* messages);

// The same where u has no way to v.
void LonelyMessages(const VipEnd& v, const float* together, int hop, bool only_new,
                    double* messages);

}  // namespace vicinity
