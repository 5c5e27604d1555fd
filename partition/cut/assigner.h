// Decides which shard each node goes to. One implementation a file: hash_assigner,
// range_assigner, metis_assigner, file_assigner.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partition/dataset/dataset.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"

namespace vicinity {

// shard_of[type][global id]: the shard of a node of the source dataset.
struct Assignment {
  int32_t num_shards = 0;
  std::vector<std::vector<int32_t>> shard_of;
};

// Every node in shard 0: sized for `dataset`, for an assigner to fill in.
Assignment MakeAssignment(const Dataset& dataset, int32_t num_shards);

// What an assigner will need, told before it works: memory at its peak beside the mapped dataset,
// and disk for temporary files.
struct WorkEstimate {
  int64_t memory_bytes = 0;
  int64_t disk_bytes = 0;
};

class Assigner {
 public:
  virtual ~Assigner() = default;
  virtual std::string name() const = 0;
  virtual WorkEstimate Estimate(const Dataset& dataset, int32_t num_shards) const = 0;
  // `dataset` must be whole. InvalidArgument for num_shards < 1 or more shards than nodes;
  // FailedPrecondition for a graph that this assigner cannot take, saying which can.
  virtual absl::StatusOr<Assignment> Assign(const Dataset& dataset, int32_t num_shards,
                                            Progress* progress) = 0;
};

// What every assigner asks of its input: OK or the InvalidArgument that Assign promises.
absl::Status CheckAssignable(const Dataset& dataset, int32_t num_shards);

}  // namespace vicinity
