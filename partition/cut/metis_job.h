// What is handed to the process that runs METIS, and what comes back: two mapped files.
//
// These files live for one call on one machine; they are no format that anybody keeps.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/common/file.h"

namespace vicinity {

inline constexpr int kMaxMetisConstraints = 4;

struct MetisJobHeader {
  std::array<char, 8> magic;
  int32_t num_nodes;
  int32_t num_constraints;
  int32_t num_parts;
  int32_t seed;
  int64_t adjacency_capacity;  // entries that the file has room for; offsets tell how many are used
  std::array<float, kMaxMetisConstraints> tolerance;
};

// The parts of a job file. The graph is undirected: symmetric, without duplicates and self-loops.
template <typename Header, typename Int>
struct MetisJobView {
  Header* header = nullptr;
  absl::Span<Int> offsets;    // num_nodes + 1
  absl::Span<Int> weights;    // num_constraints for each node
  absl::Span<Int> adjacency;  // adjacency_capacity
};
using MetisJobOutput = MetisJobView<MetisJobHeader, int32_t>;
using MetisJobInput = MetisJobView<const MetisJobHeader, const int32_t>;

int64_t MetisJobBytes(int64_t num_nodes, int num_constraints, int64_t adjacency_capacity);

// Fills in the header's sizes and finds the parts. `file` must have MetisJobBytes.
MetisJobOutput LayOutMetisJob(int32_t num_nodes, int num_constraints, int64_t adjacency_capacity,
                              absl::Span<char> file);

// DataLoss if the file does not hold what its header says.
absl::StatusOr<MetisJobInput> ViewMetisJob(const MappedFile& file);

// The result of the job in `job_path`: int32 cut edges, then the part of each node.
std::string MetisResultPath(const std::string& job_path);

// Runs METIS' k-way partitioner on a job file and writes its result: the whole work of the child.
// InvalidArgument or ResourceExhausted as METIS says. It may also crash: that is why it is a child.
absl::Status RunMetisJob(const std::string& job_path);

}  // namespace vicinity
