#include "client/planning/query_batches.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "client/planning/query_formula.h"
#include "client/query/query_steps.h"
#include "client/shards/mapped_shard.h"
#include "client/shards/shard_access.h"
#include "partition/dataset/book.h"
#include "partition/dataset/shard.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

std::vector<std::unique_ptr<ShardAccess>> MappedShards(const Dataset& dataset,
                                                       TrafficCounters* traffic) {
  std::vector<std::unique_ptr<ShardAccess>> shards;
  for (const std::unique_ptr<Shard>& shard : dataset.shards()) {
    shards.push_back(MakeMappedShard(dataset, *shard, traffic));
  }
  return shards;
}

// The same draws, whose nodes are all that is asked.
Query NodesAlone(Query query) {
  for (QueryStep& step : query.steps) {
    step.columns.clear();
    step.edge_columns.clear();
    step.edge_ids = false;
  }
  return query;
}

}  // namespace

QueryBatches::QueryBatches(const Dataset& dataset)
    : router_(dataset.schema(), dataset.book(), MappedShards(dataset, &traffic_)),
      needed_(dataset.schema().node_types.size()),
      columns_(dataset.schema().node_types.size()) {}

absl::StatusOr<std::unique_ptr<QueryBatches>> QueryBatches::Create(const Dataset& dataset,
                                                                   const Query& query) {
  std::unique_ptr<QueryBatches> batches(new QueryBatches(dataset));
  VICINITY_ASSIGN_OR_RETURN(batches->steps_, ResolveQuery(dataset.schema(), query));
  VICINITY_ASSIGN_OR_RETURN(batches->input_, FindSeedInput(batches->steps_));
  batches->TakeColumns();
  VICINITY_ASSIGN_OR_RETURN(
      batches->runner_, QueryRunner::Make(batches->router_, NodesAlone(query), StartOperation()));
  return batches;
}

void QueryBatches::TakeColumns() {
  for (const ResolvedStep& step : steps_) {
    columns_[step.node_type.value].insert(step.columns.begin(), step.columns.end());
    brings_columns_ = brings_columns_ || !step.columns.empty();
  }
  for (const ResolvedStep& step : steps_) {
    if (!brings_columns_ || !step.columns.empty()) needed_[step.node_type.value] = true;
  }
}

SamplingSpec QueryBatches::MinibatchesLike(int64_t batch_size) const {
  return vicinity::MinibatchesLike(router_.schema(), steps_, batch_size);
}

absl::StatusOr<std::vector<std::vector<int64_t>>> QueryBatches::NodesOf(
    const std::vector<int64_t>& seeds, const MinibatchDraw& draw) const {
  VICINITY_ASSIGN_OR_RETURN(const QueryAnswer answer,
                            runner_->Run({{input_.name, seeds}}, draw, StartOperation()));
  std::vector<std::vector<int64_t>> nodes(needed_.size());
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (brings_columns_ && steps_[i].columns.empty()) continue;
    std::vector<int64_t>& of_type = nodes[steps_[i].node_type.value];
    const std::vector<int64_t>& made = answer.steps[i].nodes;
    of_type.insert(of_type.end(), made.begin(), made.end());
  }
  for (std::vector<int64_t>& of_type : nodes) {
    std::sort(of_type.begin(), of_type.end());
    of_type.erase(std::unique(of_type.begin(), of_type.end()), of_type.end());
  }
  return nodes;
}

}  // namespace vicinity
