#include "client/metrics/metrics_exporter.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/cluster/host_port.h"
#include "proto/common/file.h"
#include "proto/common/status.h"
#include "proto/common/thread.h"
#include "proto/telemetry/metrics_text.h"

namespace vicinity {
namespace {

constexpr size_t kLongestName = 64;

absl::Status Check(const MetricsOptions& options) {
  if (options.interval.count() < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("metrics.interval of ", options.interval.count(), " ms: it is at least 1"));
  }
  if (options.trainer.size() > kLongestName) {
    return absl::InvalidArgumentError(absl::StrCat("metrics.trainer '", options.trainer,
                                                   "' is longer than ", kLongestName, " bytes"));
  }
  return absl::OkStatus();
}

absl::StatusOr<HostPort> AddressOf(const MetricsOptions& options) {
  absl::StatusOr<HostPort> address = ParseHostPort(options.listen);
  if (!address.ok()) return At("metrics.listen", address.status());
  if (!address->loopback() && !options.open) {
    return absl::InvalidArgumentError(
        absl::StrCat("metrics.listen ", options.listen,
                     " can be reached from other machines, where anybody may read it: listen on "
                     "127.0.0.1, write a metrics.file, or say metrics.open"));
  }
  return address;
}

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsExporter>> MetricsExporter::Start(
    const MetricsOptions& options, const MetricRegistry& registry) {
  std::unique_ptr<MetricsExporter> exporter;
  if (options.file.empty() && options.listen.empty()) return exporter;
  VICINITY_RETURN_IF_ERROR(Check(options));
  exporter.reset(new MetricsExporter(options, registry));
  if (!options.listen.empty()) {
    VICINITY_ASSIGN_OR_RETURN(const HostPort address, AddressOf(options));
    VICINITY_ASSIGN_OR_RETURN(
        exporter->port_,
        MetricsPort::Start(address, [exporter = exporter.get()] { return exporter->Text(); }));
  }
  if (!options.file.empty()) {
    VICINITY_RETURN_IF_ERROR(At("metrics.file", exporter->Write()));
    VICINITY_ASSIGN_OR_RETURN(exporter->thread_,
                              StartThread([exporter = exporter.get()] { exporter->Run(); }));
  }
  return exporter;
}

MetricsExporter::MetricsExporter(const MetricsOptions& options, const MetricRegistry& registry)
    : options_(options), registry_(registry) {}

MetricsExporter::~MetricsExporter() {
  {
    MutexLock lock(&mu_);
    stop_ = true;
  }
  stopping_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

std::string MetricsExporter::address() const {
  return port_ == nullptr ? "" : port_->address().ToString();
}

std::string MetricsExporter::Text() const {
  MetricLabels more;
  if (!options_.trainer.empty()) more.emplace_back("trainer", options_.trainer);
  return MetricsText(registry_, more);
}

void MetricsExporter::LoaderBegins() {
  MutexLock lock(&mu_);
  ++num_loaders_;
  had_loaders_ = true;
}

void MetricsExporter::LoaderEnds() {
  MutexLock writing(&writing_);
  {
    MutexLock lock(&mu_);
    --num_loaders_;
  }
  // Nobody is there to be told of an error: a trainer that ends has other worries.
  if (!options_.file.empty()) Write().IgnoreError();
}

absl::Status MetricsExporter::Write() const { return WriteFileAtomically(options_.file, Text()); }

void MetricsExporter::Run() {
  auto next = std::chrono::steady_clock::now() + options_.interval;
  while (true) {
    {
      MutexLock lock(&mu_);
      while (!stop_ && std::chrono::steady_clock::now() < next) {
        stopping_.WaitFor(&mu_, next - std::chrono::steady_clock::now());
      }
      if (stop_) return;
    }
    next = std::chrono::steady_clock::now() + options_.interval;
    MutexLock writing(&writing_);
    bool is_last_state = false;
    {
      MutexLock lock(&mu_);
      is_last_state = had_loaders_ && num_loaders_ == 0;
    }
    // What cannot be written now is written the next time; its age tells readers.
    if (!is_last_state) Write().IgnoreError();
  }
}

}  // namespace vicinity
