// Shards by METIS' multilevel k-way partitioning: few cut edges, and train nodes, validation nodes,
// other nodes and in-edges all balanced.
//
// METIS (Karypis, Kumar 1998) works in a child process, so that its crash is an error here.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "partition/cut/assigner.h"
#include "partition/cut/metis_graph.h"

namespace vicinity {

// The first argument of the child; the second is the path of its job, for RunMetisJob.
inline constexpr char kMetisChildCommand[] = "metis-child";

struct MetisOptions {
  std::string program;            // run as `program metis-child JOB`
  std::string scratch_directory;  // for the job; of a size that Estimate() tells
  // How far the largest shard may exceed the mean, by constraint: above 1. A goal that METIS may
  // miss.
  std::array<double, kMaxMetisConstraints> tolerance = {1.05, 1.05, 1.05, 1.05};
  absl::Duration time_limit = absl::Hours(6);
  int32_t seed = 1;  // the same graph and seed give the same cut

  // InvalidArgument naming the option and its value.
  absl::Status Validate() const;
};

// All node types are cut together, as one undirected graph; edges count once however often and
// whichever way they are given, self-loops not at all. What METIS has no answer to is answered
// here: one shard, and graphs without edges (nodes are dealt out evenly).
//
// Besides what Assigner says: FailedPrecondition above METIS' 32-bit limits, before any work;
// Aborted naming the signal if METIS crashes; DeadlineExceeded at the time limit. Balance that
// METIS misses is noted.
class MetisAssigner : public Assigner {
 public:
  explicit MetisAssigner(MetisOptions options);

  std::string name() const override { return "metis"; }
  WorkEstimate Estimate(const Dataset& dataset, int32_t num_shards) const override;
  absl::StatusOr<Assignment> Assign(const Dataset& dataset, int32_t num_shards,
                                    Progress* progress) override;

 private:
  const MetisOptions options_;
};

}  // namespace vicinity
