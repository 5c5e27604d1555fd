// R-MAT graphs (Chakrabarti, Zhan, Faloutsos 2004): skewed degrees, any size, from a seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partition/ingest/generated_columns.h"
#include "partition/ingest/ingest_report.h"
#include "proto/common/progress.h"

namespace vicinity {

struct RmatOptions {
  std::string name = "rmat";
  int scale = 16;  // 2^scale nodes, at most 2^31
  double edges_per_node = 16;
  double a = 0.57;  // chances of the four quadrants; d = 1 - a - b - c
  double b = 0.19;
  double c = 0.19;
  bool shuffle = true;     // number the nodes at random; otherwise low numbers have high degrees
  bool symmetric = false;  // every edge also the other way round
  bool dedup = false;
  bool drop_self_loops = false;
  bool weights = false;  // an edge column "weight", uniform in (0, 1], as weight column
  std::vector<GeneratedColumn> columns;  // uniform in [-1, 1), integers over their whole range
  SplitShares splits;
  uint64_t seed = 1;

  // InvalidArgument naming the option and its value.
  absl::Status Validate() const;
};

// Writes a dataset of one shard, one node type "node" and one edge type "node:link:node".
// The same options make the same dataset, whatever the number of cores. Memory O(nodes); edges go
// through a temporary file in the folder of `output`. AlreadyExists: `output`. ResourceExhausted:
// no disk space.
absl::StatusOr<IngestReport> GenerateRmat(const RmatOptions& options, const std::string& output,
                                          Progress* progress);

}  // namespace vicinity
