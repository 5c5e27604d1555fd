// Shards as the user's own files say: the result of another partitioner, or of one's knowledge.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "partition/cut/assigner.h"

namespace vicinity {

// One array of shard numbers for one node type: `.npy` (integers, one dimension), or text with one
// number a line (lines that start with '#' skipped).
struct AssignmentFile {
  std::string node_type;  // empty: the only one
  std::string path;
};

// Entry i is for the node with the user's id i (DENSE ids), else for the i-th node of the
// source dataset. Node types without nodes need no file.
//
// Besides what Assigner says, InvalidArgument naming file, line (or row) and value: an unknown
// type, one without a file or with two, another number of entries than nodes, no integer, no such
// shard.
class FileAssigner : public Assigner {
 public:
  explicit FileAssigner(std::vector<AssignmentFile> files);

  std::string name() const override { return "file"; }
  WorkEstimate Estimate(const Dataset& dataset, int32_t num_shards) const override;
  absl::StatusOr<Assignment> Assign(const Dataset& dataset, int32_t num_shards,
                                    Progress* progress) override;

 private:
  const std::vector<AssignmentFile> files_;
};

}  // namespace vicinity
