// What a trainer counts, shown in a file and at a port.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "client/metrics/metrics_port.h"
#include "client/types/metrics_options.h"
#include "proto/common/mutex.h"
#include "proto/telemetry/registry.h"

namespace vicinity {

// While loaders come and go, the file is that of the time when there was one: once the last has
// ended, it stays until there is another.
//
// Threads:  any number; has up to two of its own.
// Lifetime: the registry must outlive it.
// Errors:   a file that cannot be written later is tried again the next time.
class MetricsExporter {
 public:
  // Null if the options ask for nothing. Writes the file once, so that a path that cannot be
  // written is an error here. InvalidArgument naming the option and its value.
  static absl::StatusOr<std::unique_ptr<MetricsExporter>> Start(const MetricsOptions& options,
                                                                const MetricRegistry& registry);
  ~MetricsExporter();
  MetricsExporter(const MetricsExporter&) = delete;
  MetricsExporter& operator=(const MetricsExporter&) = delete;

  std::string address() const;  // of the port; empty: none
  std::string Text() const;

  void LoaderBegins();
  // It is still in the registry: the file is written with it.
  void LoaderEnds();

 private:
  MetricsExporter(const MetricsOptions& options, const MetricRegistry& registry);
  void Run();
  absl::Status Write() const;

  const MetricsOptions options_;
  const MetricRegistry& registry_;
  Mutex mu_;
  CondVar stopping_;
  bool stop_ ABSL_GUARDED_BY(mu_) = false;
  int num_loaders_ ABSL_GUARDED_BY(mu_) = 0;
  bool had_loaders_ ABSL_GUARDED_BY(mu_) = false;
  // Held while the file is written: one at a time, and none late. Comes before mu_.
  Mutex writing_;
  std::thread thread_;
  std::unique_ptr<MetricsPort> port_;
};

}  // namespace vicinity
