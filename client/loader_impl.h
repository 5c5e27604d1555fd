// What the public loaders are made of: a core, the graph that it stands on, and its metrics.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/graph.h"
#include "client/graph_impl.h"
#include "client/loading/loader_core.h"
#include "client/metrics/loader_names.h"
#include "client/metrics/metrics_exporter.h"
#include "client/types/error.h"
#include "client/types/result.h"
#include "proto/common/status.h"
#include "proto/common/thread.h"
#include "proto/telemetry/registry.h"

namespace vicinity {

// Threads: as Loader.
class LoaderImpl {
 public:
  // On the graph at one version, where it is live. `make`: a core over that graph's router. Errors
  // as GraphImpl::AtOneVersion's, and `make`'s.
  template <typename Make>
  static absl::StatusOr<std::unique_ptr<LoaderImpl>> Create(const Graph& graph, Make make) {
    VICINITY_RETURN_IF_ERROR(graph.impl().CheckProcess());
    VICINITY_ASSIGN_OR_RETURN(std::shared_ptr<const GraphImpl> read, graph.impl().AtOneVersion());
    VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<LoaderCore> core,
                              WithinResources([&] { return make(read->router()); }));
    core->TraceWith(read->tracer());
    return std::make_unique<LoaderImpl>(std::move(read), std::move(core));
  }

  LoaderImpl(std::shared_ptr<const GraphImpl> graph, std::unique_ptr<LoaderCore> core)
      : graph_(std::move(graph)),
        core_(std::move(core)),
        name_(graph_->loader_names()->Take()),
        metrics_(std::make_unique<MetricRegistry::Group>(graph_->metrics())) {
    core_->AddMetrics(name_, metrics_.get());
    if (graph_->exporter() != nullptr) graph_->exporter()->LoaderBegins();
  }

  ~LoaderImpl() {
    if (graph_->CheckProcess().ok()) {
      if (graph_->exporter() != nullptr) graph_->exporter()->LoaderEnds();
      metrics_.reset();
      graph_->loader_names()->GiveBack(name_);
      return;
    }
    // A forked child has none of the stages' threads: joining them would wait for ever, and so
    // might a lock that one of them held.
    static_cast<void>(metrics_.release());
    static_cast<void>(core_.release());
    static_cast<void>(new std::shared_ptr<const GraphImpl>(std::move(graph_)));
  }
  LoaderImpl(const LoaderImpl&) = delete;
  LoaderImpl& operator=(const LoaderImpl&) = delete;

  // FailedPrecondition in a forked child.
  absl::Status CheckProcess() const { return graph_->CheckProcess(); }
  LoaderCore& core() const { return *core_; }

  // What both loaders do alike.
  Error StartEpoch(int64_t epoch, int64_t first_step, int64_t end_step) const {
    const absl::Status ready = CheckProcess();
    if (!ready.ok()) return ToError(ready);
    return ToError(WithinResources([&] { return core_->StartEpoch(epoch, first_step, end_step); }));
  }
  Error ResumeEpoch(int64_t epoch, int64_t batches_done) const {
    const absl::Status ready = CheckProcess();
    if (!ready.ok()) return ToError(ready);
    return ToError(WithinResources([&] { return core_->ResumeEpoch(epoch, batches_done); }));
  }
  bool WaitForNext(std::chrono::milliseconds limit) const {
    // A forked child has nothing to wait for: Next says so.
    return !CheckProcess().ok() || core_->WaitForNext(limit);
  }

 private:
  std::shared_ptr<const GraphImpl> graph_;  // at one version, where it is live
  std::unique_ptr<LoaderCore> core_;
  const std::string name_;
  std::unique_ptr<MetricRegistry::Group> metrics_;  // last: it reads the core
};

}  // namespace vicinity
