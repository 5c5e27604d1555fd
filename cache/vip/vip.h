// VIP analysis: how likely each node's row is to be needed by a minibatch of each home.
//
// For batches that begin with each node with the chance c_0 (cache/vip/seed_chances.h: of node
// seeds min(B, |T|) / |T|), and u's out-neighbours v (the nodes whose in-neighbour lists contain
// u), with c_h(u) the probability that u is met in hops 0 .. h, and m_h(v, u) the probability that
// v, met without u's help, draws an edge from u in hops 1 .. h:
//
//   c_h(u) = 1 - (1 - c_0(u)) prod over v of (1 - m_h(v, u))          P(u) = c_L(u)
//   m_h(v, u) = m_(h-1)(v, u) + t_h(v, u) (a - m_(h-1)(v, u))     every node expanded again
//   m_h(v, u) = m_(h-1)(v, u) + t_h(v, u) (a - b)                 only new nodes expanded
//   a, b: c_(h-1)(v), c_(h-2)(v) without u's factor 1 - m(u, v), where u draws from v in its turn
//
// t_h(v, u) is the chance that v, expanded, draws one of its edges from u: min(1, f_h / d(v)) for
// one edge and draws without replacement; cache/vip/draw_chance.h has the other cases. Edges of
// several types from u to v, and parallel ones, are drawn apart, but all of them need v to be met,
// so they make one factor.
//
// It began as the analysis of Kaler et al., "Communication-Efficient Graph Neural Networks with
// Probabilistic Neighborhood Expansion Analysis and Caching" (MLSys 2023). What differs, and what
// each difference is worth, is docs/decisions/0009: hop 0 counts; directed graphs go by their
// transpose; a node that is expanded again draws for edges that it may have drawn before; a node
// met before is no new node; u is not met again through those whom it led to; parallel edges are
// not independent. It is exact on trees, parallel edges and several edge types included.
//
// u's way back through v is seen where an edge type has an exact reverse, with the same weights,
// among those followed (cache/vip/reverse_edges.h). Otherwise seeds, nodes and neighbours are taken
// as independent: where many short cycles (triangles above all) lead to a node its probability
// comes out too high. Where seeds are links and an edge of v and u is one, a and b are also without
// the chance that it brought both into the batch; ends of links that are no edges are independent.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cache/vip/edge_filter.h"
#include "cache/vip/seed_chances.h"
#include "cache/vip/vip_scores.h"
#include "partition/dataset/dataset.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"

namespace vicinity {

struct VipOptions {
  SamplingSpec sampling;
  int64_t batch_size = 1024;  // seeds, or links
  int num_threads = 0;        // 0: all cores
  // Which edges are there to draw; null: all. The formula goes by it at every hop, whoever the seed
  // is; the condition and times of `sampling` themselves it leaves to whoever samples.
  EdgeFilter filter = nullptr;
};

// Reads the edges from the mapped files as they lie, once all of their lists are verified
// (partition/dataset/whole_read.h, which also has the errors): eight homes at a time, in one pass a
// hop. A home without seeds scores 0. The result is the same for any number of threads; and on
// every machine, unless edges are weighted.
//
// Draws by LABOR, disjoint trees and times have no formula of their own. With LABOR, whose targets
// share sources, a batch has fewer nodes than it says; of trees, which draw apart, more; and what a
// seed's time leaves of the filter's edges is not seen. It tells which nodes come first; how likely
// they are, sampled batches do (cache/vip/calibration.h).
//
// Errors: InvalidArgument      a spec that does not fit, a batch size below 1, a seed out of range
//                              or given twice, an unknown node type
//         FailedPrecondition   the dataset is not whole
//         DataLoss             a damaged file, or an edge that does not lie in its file or its
//                              source type
//         ResourceExhausted    no memory
//         else                 what the filter said
// Memory: VipMemoryBytes.
// Cost:   edges x hops x homes / 8 random reads of two neighbouring cache lines, shared by the
//         threads, where edge types have a reverse. (No logarithms: chances are joined by
//         a + b - ab, which keeps cold nodes in order.) Without a reverse every thread reads every
//         edge. Between node types with weighted edges, with edges that the filter leaves out, or
//         with more than one parallel edge in 1,000, it takes some ten times as long.
absl::StatusOr<VipScores> ComputeVip(const Dataset& dataset, absl::Span<const HomeSeeds> homes,
                                     const VipOptions& options, Progress* progress);

// The same for batches of links. All types of their ends and negatives must exist. InvalidArgument
// also for `edges` that do not fit the dataset and homes. Cost: edges between the types of `edges`
// cost as parallel ones do.
absl::StatusOr<VipScores> ComputeLinkVip(const Dataset& dataset, absl::Span<const LinkSeeds> homes,
                                         const LinkEdges& edges, const VipOptions& options,
                                         Progress* progress);

// About what ComputeVip takes at its peak, the scores that it returns included.
int64_t VipMemoryBytes(const Dataset& dataset, const SamplingSpec& sampling, int64_t num_homes);

}  // namespace vicinity
