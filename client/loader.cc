#include "client/loader.h"

#include <sys/types.h>
#include <unistd.h>

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/graph_impl.h"
#include "client/loading/loader_core.h"
#include "client/types/error.h"
#include "proto/common/thread.h"
#include "proto/telemetry/registry.h"

namespace vicinity {

class Loader::Impl {
 public:
  Impl(std::shared_ptr<const GraphImpl> graph, std::unique_ptr<LoaderCore> core)
      : graph_(std::move(graph)),
        core_(std::move(core)),
        metrics_(std::make_unique<MetricRegistry::Group>(graph_->metrics())) {
    core_->AddMetrics(graph_->NameOfNextLoader(), metrics_.get());
  }

  ~Impl() {
    if (graph_->CheckProcess().ok()) return;
    // A forked child has none of the stages' threads: joining them would wait for ever, and so
    // might a lock that one of them held.
    static_cast<void>(metrics_.release());
    static_cast<void>(core_.release());
    static_cast<void>(new std::shared_ptr<const GraphImpl>(std::move(graph_)));
  }

  const GraphImpl& graph() const { return *graph_; }
  LoaderCore& core() const { return *core_; }

 private:
  std::shared_ptr<const GraphImpl> graph_;  // at one version, where it is live
  std::unique_ptr<LoaderCore> core_;
  std::unique_ptr<MetricRegistry::Group> metrics_;  // last: it reads the core
};

Result<std::unique_ptr<Loader>> Loader::Create(const Graph* graph, const LoaderOptions& options) {
  const absl::Status ready = graph->impl().CheckProcess();
  if (!ready.ok()) return ToError(ready);
  absl::StatusOr<std::shared_ptr<const GraphImpl>> read = graph->impl().AtOneVersion();
  if (!read.ok()) return ToError(read.status());
  absl::StatusOr<std::unique_ptr<LoaderCore>> core =
      WithinResources([&] { return LoaderCore::Create((*read)->router(), options); });
  if (!core.ok()) return ToError(core.status());
  return std::unique_ptr<Loader>(
      new Loader(std::make_unique<Impl>(*std::move(read), *std::move(core))));
}

Loader::Loader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Loader::~Loader() = default;

int64_t Loader::num_seeds() const { return impl_->core().num_seeds(); }
int64_t Loader::steps_per_epoch() const { return impl_->core().steps_per_epoch(); }

Error Loader::StartEpoch(int64_t epoch, int64_t first_step, int64_t end_step) {
  const absl::Status ready = impl_->graph().CheckProcess();
  if (!ready.ok()) return ToError(ready);
  return ToError(
      WithinResources([&] { return impl_->core().StartEpoch(epoch, first_step, end_step); }));
}

Error Loader::ResumeEpoch(int64_t epoch, int64_t batches_done) {
  const absl::Status ready = impl_->graph().CheckProcess();
  if (!ready.ok()) return ToError(ready);
  return ToError(WithinResources([&] { return impl_->core().ResumeEpoch(epoch, batches_done); }));
}

Result<std::unique_ptr<MiniBatch>> Loader::Next() {
  const absl::Status ready = impl_->graph().CheckProcess();
  if (!ready.ok()) return ToError(ready);
  return ToResult(impl_->core().Next());
}

bool Loader::WaitForNext(std::chrono::milliseconds limit) {
  // A forked child has nothing to wait for: Next says so.
  return !impl_->graph().CheckProcess().ok() || impl_->core().WaitForNext(limit);
}

LoaderStats Loader::stats() const { return impl_->core().stats(); }

}  // namespace vicinity
