// VIP analysis: how likely each node's row is to be needed by a minibatch of each home.
//
// For the seeds T of a home, batch size B, fanouts f_h, in-degree d(v), and u's out-neighbours v
// (the nodes whose in-neighbour lists contain u):
//
//   p_0(u) = min(B, |T|) / |T| for u in T, else 0        t_h(v) = min(1, f_h / d(v))
//   p_h(u) = 1 - prod over v of (1 - t_h(v) p_(h-1)(v))
//   P(u)   = 1 - prod over h = 0..L of (1 - p_h(u))
//
// (Kaler et al., "Communication-Efficient Graph Neural Networks with Probabilistic Neighborhood
// Expansion Analysis and Caching", MLSys 2023; here with hop 0, over the transpose of directed
// graphs, and one factor for each edge and edge type.) With replacement an edge is missed by
// all f draws with (1 - 1/d)^f, so t_h(v) = 1 - (1 - 1/d)^f.
//
// Seeds, hops and edges are taken as independent; docs/decisions tells what that costs.
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

// All homes in one pass over the edges a hop. The dataset must be whole.
// InvalidArgument: a spec that does not fit, a seed out of range. A home without seeds scores 0.
// Memory: 3 floats a node and home. Cost: hops x edges x homes multiply-adds.
absl::StatusOr<VipScores> ComputeVip(const Dataset& dataset, absl::Span<const HomeSeeds> homes,
                                     const VipOptions& options, Progress* progress);

}  // namespace vicinity
