// The undirected, weighted graph that METIS cuts: all nodes of all types in one numbering.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "partition/cut/metis_job.h"
#include "partition/dataset/dataset.h"
#include "partition/schema/schema.h"
#include "proto/common/progress.h"

namespace vicinity {

// What METIS is to balance. A node has weight 1 in one of the first three and its in-degree in
// the last.
enum class Constraint : uint8_t { kTrain, kValidation, kOther, kInEdges };
inline constexpr std::array<Constraint, kMaxMetisConstraints> kAllConstraints = {
    Constraint::kTrain, Constraint::kValidation, Constraint::kOther, Constraint::kInEdges};
std::string_view ConstraintName(Constraint constraint);  // "train nodes"

// Every node's weights, type by type.
//
// Memory: 9 bytes a node.
class NodeWeights {
 public:
  explicit NodeWeights(const Dataset& dataset);

  int64_t num_nodes() const { return static_cast<int64_t>(roles_.size()); }
  int64_t weight(int64_t node, Constraint constraint) const {
    if (constraint == Constraint::kInEdges) return in_degrees_[node];
    return roles_[node] == constraint ? 1 : 0;
  }
  Constraint role(int64_t node) const { return roles_[node]; }  // kInEdges for none
  int64_t total(Constraint constraint) const { return totals_[static_cast<int>(constraint)]; }
  // The constraints with a total above 0, in order: there is nothing to balance about the others.
  const std::vector<Constraint>& present() const { return present_; }

 private:
  std::vector<Constraint> roles_;
  std::vector<int64_t> in_degrees_;
  std::array<int64_t, kMaxMetisConstraints> totals_{};
  std::vector<Constraint> present_;
};

// Debian's METIS counts in 32 bits. FailedPrecondition, naming what does the work instead, for a
// graph that it would overflow on: pure arithmetic, so ask before any work.
absl::Status CheckMetisLimits(int64_t num_nodes, int64_t num_edges);

// Adjacency entries that FillMetisJob may need before it has dropped duplicates.
int64_t MetisAdjacencyCapacity(int64_t num_edges);

// About how many will be left: found from a few thousand edges, by how often each is there, either
// way round. Exact where the edges are no more than that.
int64_t EstimateMetisAdjacency(const Dataset& dataset);

// About the share of them that is left once every node was joined with one of its neighbours, which
// METIS does again and again before it cuts: 1 where no neighbours of a node are each other's, and
// the less the more are. Found from as few edges.
double EstimateCoarseShare(const Dataset& dataset);

// Fills in offsets, weights and adjacency of a job that was laid out for num_nodes, present() and
// the capacity: every edge both ways, duplicates and self-loops dropped.
void FillMetisJob(const Dataset& dataset, const NodeWeights& weights, const MetisJobOutput& job,
                  Progress* progress);

}  // namespace vicinity
