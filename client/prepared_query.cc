#include "client/prepared_query.h"

#include <utility>

#include "absl/status/statusor.h"
#include "client/graph_impl.h"
#include "client/query/query_runner.h"
#include "client/query/query_steps.h"
#include "client/shards/call_context.h"
#include "client/types/error.h"
#include "proto/common/status.h"
#include "proto/common/thread.h"
#include "sampler/minibatch_sampler.h"

namespace vicinity {

PreparedQuery::PreparedQuery(const Graph* graph, Query query, std::unique_ptr<QueryRunner> runner)
    : graph_(graph), query_(std::move(query)), runner_(std::move(runner)) {}

PreparedQuery::~PreparedQuery() = default;

Result<std::unique_ptr<PreparedQuery>> PreparedQuery::Make(const Graph* graph, const Query& query) {
  if (graph == nullptr) return Error(ErrorCode::kInvalidArgument, "graph is null");
  const absl::Status ready = graph->impl().CheckProcess();
  if (!ready.ok()) return ToError(ready);
  absl::StatusOr<std::unique_ptr<QueryRunner>> runner = WithinResources(
      [&] { return QueryRunner::Make(graph->impl().router(), query, StartOperation()); });
  if (!runner.ok()) return ToError(runner.status());
  return std::unique_ptr<PreparedQuery>(new PreparedQuery(graph, query, *std::move(runner)));
}

std::vector<int32_t> PreparedQuery::node_types() const {
  std::vector<int32_t> types;
  for (const ResolvedStep& step : runner_->steps()) types.push_back(step.node_type.value);
  return types;
}

Result<QueryAnswer> PreparedQuery::Run(const QueryInputs& inputs, const DrawId& draw) const {
  const absl::Status ready = graph_->impl().CheckProcess();
  if (!ready.ok()) return ToError(ready);
  MinibatchDraw minibatch;
  minibatch.run_seed = draw.run_seed;
  minibatch.epoch = draw.epoch;
  minibatch.batch = draw.batch;
  return ToResult(
      WithinResources([&] { return runner_->Run(inputs, minibatch, StartOperation()); }));
}

Result<std::vector<StepCost>> PreparedQuery::Explain(const InputSizes& sizes) const {
  const absl::Status ready = graph_->impl().CheckProcess();
  if (!ready.ok()) return ToError(ready);
  return ToResult(WithinResources([&] { return runner_->Foretell(sizes, StartOperation()); }));
}

}  // namespace vicinity
