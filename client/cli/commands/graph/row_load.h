// Reads random rows of a graph as fast as they come, and measures that.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/graph.h"

namespace vicinity::cli {

struct RowLoad {
  int32_t node_type = 0;
  std::string column;
  int64_t rows_per_call = 4096;
  int num_threads = 8;  // each has one call under way
  absl::Duration duration = absl::Seconds(10);
};

struct RowLoadResult {
  double seconds = 0;
  int64_t calls = 0;  // that brought their rows
  int64_t rows = 0;
  int64_t bytes = 0;                 // of rows, without what goes around them
  int64_t failed = 0;                // calls
  std::string error;                 // the first of them; empty: none
  std::vector<double> call_seconds;  // rising, of those that brought their rows
};

// Nodes are drawn uniformly, by a fixed seed, apart in each thread. A thread ends at its first
// failure. ResourceExhausted if not all threads can be had.
//
// Memory: the rows of a call for each thread, and 8 bytes a call.
absl::StatusOr<RowLoadResult> LoadRows(const Graph& graph, const RowLoad& load);

// The value below which `share` of the rising `values` lie; 0 of none.
double ShareOf(const std::vector<double>& values, double share);

}  // namespace vicinity::cli
