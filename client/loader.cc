#include "client/loader.h"

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/loader_impl.h"
#include "client/loading/loader_core.h"
#include "client/shards/shard_router.h"
#include "client/types/error.h"

namespace vicinity {

Result<std::unique_ptr<Loader>> Loader::Create(const Graph* graph, const LoaderOptions& options) {
  absl::StatusOr<std::unique_ptr<LoaderImpl>> impl = LoaderImpl::Create(
      *graph, [&](const ShardRouter& router) { return LoaderCore::Create(router, options); });
  if (!impl.ok()) return ToError(impl.status());
  return std::unique_ptr<Loader>(new Loader(*std::move(impl)));
}

Loader::Loader(std::unique_ptr<LoaderImpl> impl) : impl_(std::move(impl)) {}
Loader::~Loader() = default;

int64_t Loader::num_seeds() const { return impl_->core().num_seeds(); }
int64_t Loader::steps_per_epoch() const { return impl_->core().steps_per_epoch(); }

Error Loader::StartEpoch(int64_t epoch, int64_t first_step, int64_t end_step) {
  return impl_->StartEpoch(epoch, first_step, end_step);
}

Error Loader::ResumeEpoch(int64_t epoch, int64_t batches_done) {
  return impl_->ResumeEpoch(epoch, batches_done);
}

Result<std::unique_ptr<MiniBatch>> Loader::Next() {
  const absl::Status ready = impl_->CheckProcess();
  if (!ready.ok()) return ToError(ready);
  return ToResult(impl_->core().Next());
}

bool Loader::WaitForNext(std::chrono::milliseconds limit) { return impl_->WaitForNext(limit); }

LoaderStats Loader::stats() const { return impl_->core().stats(); }

}  // namespace vicinity
