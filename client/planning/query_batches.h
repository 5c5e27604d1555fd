// Batches that are answers of a query (client/query/query.h) in the place of minibatches: which
// rows each of them needs.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/query/query.h"
#include "client/query/query_runner.h"
#include "client/query/seed_input.h"
#include "client/shards/shard_router.h"
#include "client/shards/traffic.h"
#include "partition/dataset/dataset.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/ids.h"
#include "sampler/minibatch_sampler.h"

namespace vicinity {

// A batch needs the rows of the nodes of the steps that bring columns; of a query that brings none,
// and leaves fetching to whoever asks it, of the nodes of all steps. Nothing is fetched here but
// what draws and conditions go by.
//
// Threads:  immutable; any number may use it.
// Lifetime: the dataset must outlive it.
class QueryBatches {
 public:
  // InvalidArgument unless the query has just one input, which takes the seeds; else errors as
  // QueryRunner::Make.
  static absl::StatusOr<std::unique_ptr<QueryBatches>> Create(const Dataset& dataset,
                                                              const Query& query);
  QueryBatches(const QueryBatches&) = delete;
  QueryBatches& operator=(const QueryBatches&) = delete;

  // The input's name, and of which type the nodes are that it takes.
  const std::string& input() const { return input_.name; }
  NodeTypeId seed_type() const { return input_.node_type; }
  // Whether a batch may need rows of the type.
  bool needs(NodeTypeId type) const { return needed_[type.value]; }
  bool brings_columns() const { return brings_columns_; }
  // The columns that steps bring of nodes of the type, by position.
  const std::set<int32_t>& columns(NodeTypeId type) const { return columns_[type.value]; }

  // What the VIP formula goes by (client/planning/query_formula.h).
  SamplingSpec MinibatchesLike(int64_t batch_size) const;
  // By node type: the nodes whose rows the batch of these seeds needs, rising, each once. Errors as
  // QueryRunner::Run.
  absl::StatusOr<std::vector<std::vector<int64_t>>> NodesOf(const std::vector<int64_t>& seeds,
                                                            const MinibatchDraw& draw) const;

 private:
  explicit QueryBatches(const Dataset& dataset);
  void TakeColumns();

  TrafficCounters traffic_;
  const ShardRouter router_;
  std::vector<ResolvedStep> steps_;  // as the user wrote them
  std::unique_ptr<QueryRunner> runner_;
  SeedInput input_;
  bool brings_columns_ = false;
  std::vector<bool> needed_;                // by node type
  std::vector<std::set<int32_t>> columns_;  // by node type
};

}  // namespace vicinity
