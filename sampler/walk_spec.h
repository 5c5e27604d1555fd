// How walks go: what a walk sampler follows, and what it gives.
//
// Standard C++ alone, since the client's public headers show it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "partition/schema/schema.h"

namespace vicinity {

// A step goes the way that sampling goes: along one edge type, from a node that its edges lead to,
// to one that such an edge comes from. Who wants to walk the other way imports the reverse edges,
// or both.
struct WalkSpec {
  // Edge types: step s follows metapath[s % metapath.size()]. Each begins at the node type where
  // the one before it has arrived; so does the first behind the last, if walks are longer. Walks
  // start at nodes of the target type of the first.
  std::vector<int32_t> metapath;
  int64_t length = 0;  // steps, at least 1
  // Steps along edge types whose weight column has this name are drawn by it, others uniformly over
  // the edges, parallel ones being several; edges of weight 0 are never taken. Empty: uniformly.
  std::string weighted_by{};
  // With this chance a walk ends where it stands, before each step (DGL's restart_prob).
  double restart_prob = 0;
  // node2vec (Grover and Leskovec, KDD 2016): behind a step from t to v the chance of an edge to x
  // is its weight (1 without weights) times 1/p if x is t, 1 if a step leads from t to x, 1/q else.
  // Other than 1 for walks of one edge type between nodes of one type.
  double p = 1;
  double q = 1;
};

struct Walks {
  int64_t length = 0;  // steps
  // Global ids, [number of walks, length + 1]: the start of each walk, then where its steps led; -1
  // behind the end of one that had no edge to take, or ended by chance.
  std::vector<int64_t> nodes;
  // Which edge each step took, its position in the user's input, [number of walks, length]; -1
  // behind the end. If asked for.
  std::vector<int64_t> edge_ids;

  int64_t num_walks() const { return static_cast<int64_t>(nodes.size()) / (length + 1); }
};

// Limits that every entry point enforces.
inline constexpr int64_t kMaxWalkLength = (1 << 14) - 1;
inline constexpr int64_t kMaxWalkNodes = int64_t{1} << 27;  // of all walks of a call
inline constexpr double kMaxWalkBias = 64;                  // of p, q and one over them

// The edge type of a step.
inline int32_t EdgeTypeOfStep(const WalkSpec& spec, int64_t step) {
  return spec.metapath[step % static_cast<int64_t>(spec.metapath.size())];
}

// Of which type a walk's node is, behind so many steps.
int32_t NodeTypeOfWalk(const Schema& schema, const WalkSpec& spec, int64_t steps);

// Empty if the spec fits the schema, else what is wrong, with the value.
std::string WalkProblem(const Schema& schema, const WalkSpec& spec);

}  // namespace vicinity
