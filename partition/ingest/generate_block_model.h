// Degree-corrected block models (Karrer, Newman 2011) with planted classes and features that hint
// at them: graphs from a seed that a GNN can learn, with skewed degrees and a cut worth finding.
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

struct BlockModelOptions {
  std::string name = "block_model";
  int64_t num_nodes = 100000;
  double average_degree = 20;    // in-edges a node, before duplicates and self-loops are dropped
  int64_t num_communities = 50;  // of equal size
  int32_t num_classes = 10;      // label: community modulo num_classes; 0: no labels
  double mixing = 0.2;           // share of the edges that leave their community
  double exponent = 2.5;         // of the degrees' power law, above 2
  bool symmetric = true;         // every edge also the other way round
  // Row of a node: its community's mean (components of variance 1) plus noise. A width of 0: none.
  GeneratedColumn features = {"features", DType::kFloat32, 64};
  double noise = 3;  // standard deviation of the noise
  SplitShares splits = {0.1, 0.05, 0.1};
  uint64_t seed = 1;

  // InvalidArgument naming the option and its value.
  absl::Status Validate() const;
};

// Writes a dataset of one shard, one node type "node" and one edge type "node:link:node", without
// duplicates and self-loops. The same options make the same
// dataset, whatever the number of cores. Memory O(nodes); edges go through a temporary file in the
// folder of `output`. AlreadyExists: `output`. ResourceExhausted: no disk space.
absl::StatusOr<IngestReport> GenerateBlockModel(const BlockModelOptions& options,
                                                const std::string& output, Progress* progress);

}  // namespace vicinity
