#include "client/query_loader.h"

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/loader_impl.h"
#include "client/loading/epoch_run.h"
#include "client/loading/loader_core.h"
#include "client/query/query_steps.h"
#include "client/shards/shard_router.h"
#include "client/types/error.h"

namespace vicinity {

Result<std::unique_ptr<QueryLoader>> QueryLoader::Create(const Graph* graph, const Query& query,
                                                         const LoaderOptions& options) {
  if (graph == nullptr) return Error(ErrorCode::kInvalidArgument, "graph is null");
  absl::StatusOr<std::unique_ptr<LoaderImpl>> impl =
      LoaderImpl::Create(*graph, [&](const ShardRouter& router) {
        return LoaderCore::CreateForQuery(router, query, options);
      });
  if (!impl.ok()) return ToError(impl.status());
  return std::unique_ptr<QueryLoader>(new QueryLoader(query, *std::move(impl), options.run_seed));
}

QueryLoader::QueryLoader(Query query, std::unique_ptr<LoaderImpl> impl, uint64_t run_seed)
    : query_(std::move(query)), impl_(std::move(impl)), run_seed_(run_seed) {}
QueryLoader::~QueryLoader() = default;

const Query& QueryLoader::query() const { return query_; }

std::vector<int32_t> QueryLoader::node_types() const {
  std::vector<int32_t> types;
  for (const ResolvedStep& step : impl_->core().steps()) types.push_back(step.node_type.value);
  return types;
}

int64_t QueryLoader::num_seeds() const { return impl_->core().num_seeds(); }
int64_t QueryLoader::steps_per_epoch() const { return impl_->core().steps_per_epoch(); }

Error QueryLoader::StartEpoch(int64_t epoch, int64_t first_step, int64_t end_step) {
  return impl_->StartEpoch(epoch, first_step, end_step);
}

Error QueryLoader::ResumeEpoch(int64_t epoch, int64_t batches_done) {
  return impl_->ResumeEpoch(epoch, batches_done);
}

Result<std::unique_ptr<QueryBatch>> QueryLoader::Next() {
  const absl::Status ready = impl_->CheckProcess();
  if (!ready.ok()) return ToError(ready);
  absl::StatusOr<LoadedBatch> loaded = impl_->core().NextLoaded();
  if (!loaded.ok()) return ToError(loaded.status());
  if (loaded->batch == nullptr) return std::unique_ptr<QueryBatch>();
  auto batch = std::make_unique<QueryBatch>();
  batch->epoch = loaded->batch->epoch;
  batch->step = loaded->batch->step;
  batch->batches_done = loaded->batch->batches_done;
  batch->inputs = std::move(loaded->inputs);
  batch->draw = {run_seed_, static_cast<uint64_t>(batch->epoch), loaded->draw_batch};
  batch->answer = std::move(*loaded->answer);
  batch->input_positions = std::move(loaded->batch->input_positions);
  batch->labels = std::move(loaded->batch->labels);
  return batch;
}

bool QueryLoader::WaitForNext(std::chrono::milliseconds limit) { return impl_->WaitForNext(limit); }

LoaderStats QueryLoader::stats() const { return impl_->core().stats(); }

}  // namespace vicinity
