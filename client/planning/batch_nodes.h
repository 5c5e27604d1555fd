// Which rows batches need, whatever makes them: what rankings and traces are counted on.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "client/planning/query_batches.h"
#include "client/planning/seed_batches.h"
#include "partition/dataset/dataset.h"
#include "partition/schema/sampling_spec.h"
#include "sampler/sampled_graph.h"

namespace vicinity {

// Threads: one at a time.
class BatchNodes {
 public:
  virtual ~BatchNodes() = default;

  // By node type: the ids are those whose rows the batch needs; of disjoint trees (`trees`) a node
  // comes once for each. Errors as MinibatchSampler's, or QueryBatches::NodesOf's.
  virtual absl::StatusOr<std::vector<SampledNodes>> Of(const SeedBatch& batch) = 0;
};

// Of a query's answers; null: of minibatches by this spec.
//
// It reads lists raw: to be used inside ReadWhole (partition/dataset/whole_read.h).
//
// Lifetime: dataset and query must outlive it.
std::unique_ptr<BatchNodes> NewBatchNodes(const Dataset& dataset, const SamplingSpec& spec,
                                          const QueryBatches* query);

}  // namespace vicinity
