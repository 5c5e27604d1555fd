// VIP analysis: how likely each node's row is to be needed by a minibatch of each home.
//
// For the seeds T of a home, batch size B, fanouts f_h, in-degree d(v), and u's out-neighbours v
// (the nodes whose in-neighbour lists contain u), with c_h(u) the probability that u is met in hops
// 0 .. h, and r_h(v) the probability that v draws a given one of its in-edges in hops 1 .. h:
//
//   c_0(u) = min(B, |T|) / |T| for u in T, else 0        t_h(v) = min(1, f_h / d(v))
//   r_h(v) = r_(h-1)(v) + t_h(v) (c_(h-1)(v) - r_(h-1)(v))          every node expanded again
//   r_h(v) = r_(h-1)(v) + t_h(v) (c_(h-1)(v) - c_(h-2)(v))          only new nodes expanded
//   c_h(u) = 1 - (1 - c_0(u)) prod over v of (1 - r_h(v))           P(u) = c_L(u)
//
// This is the analysis of Kaler et al., "Communication-Efficient Graph Neural Networks with
// Probabilistic Neighborhood Expansion Analysis and Caching" (MLSys 2023), with hop 0, over the
// transpose of directed graphs, one factor for each edge and edge type (each with r of its own),
// and with two corrections that make it exact on trees: a node that is expanded again draws for an
// edge that it may have drawn before, and a node that was met before is no new node. With
// replacement an edge is missed by all f draws with (1 - 1/d)^f, so t_h(v) = 1 - (1 - 1/d)^f.
//
// Seeds, nodes and edges are taken as independent; what that costs is largest on sparse
// undirected graphs, where u counts as met again through the neighbours that it led to.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partition/dataset.h"
#include "partition/progress.h"
#include "partition/sampling_spec.h"
#include "proto/common/ids.h"

namespace vicinity {

// The seeds of one home: nodes of one type, as global ids.
struct HomeSeeds {
  NodeTypeId type;
  std::vector<int64_t> nodes;
};

struct VipOptions {
  SamplingSpec sampling;
  int64_t batch_size = 1024;
  int num_threads = 0;  // 0: all cores
};

// P for every node and home: row u, home k is values[type][u * num_homes + k].
struct VipScores {
  int32_t num_homes = 0;
  std::vector<std::vector<float>> values;  // by node type

  float at(NodeTypeId type, GlobalNode node, int32_t home) const {
    return values[type.value][node.value * num_homes + home];
  }
};

// All homes in one pass over the edges a hop, read from the mapped files as they lie. The same for
// any number of threads. InvalidArgument: a spec that does not fit, a batch size below 1, a seed
// out of range or given twice, an unknown node type; FailedPrecondition: the dataset is not whole;
// DataLoss: an edge that does not lie in its file or its source type. A home without seeds scores
// 0. Memory: for each home 16 bytes a node (20 where only new nodes are expanded), and 4 bytes a
//         target node of each edge type.
// Cost:   hops x edges x homes additions; every thread reads every edge.
absl::StatusOr<VipScores> ComputeVip(const Dataset& dataset, absl::Span<const HomeSeeds> homes,
                                     const VipOptions& options, Progress* progress);

}  // namespace vicinity
