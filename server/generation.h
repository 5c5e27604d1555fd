// One dataset of a server: its files, what is written to them, and all that is known of it while it
// is served.
#pragma once

#include <spdlog/logger.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partition/dataset/dataset.h"
#include "partition/overlay/live_dataset.h"
#include "proto/telemetry/registry.h"
#include "sampler/relations/nonempty_cache.h"
#include "sampler/rules/matching_cache.h"
#include "server/handlers/server_state.h"
#include "server/health/disk_watch.h"
#include "server/health/scrubber.h"
#include "server/health/shard_health.h"
#include "server/replication/replication.h"
#include "server/server_options.h"

namespace vicinity {

// Threads:  state() and what it points to by any; the rest by one at a time.
// Lifetime: what Complete and TakeForce are given outlives it.
class Generation {
 public:
  struct Folders {
    std::string data;
    std::string changes;  // empty: it is read-only
  };
  // Opens it, as ServerOptions says but for the folders; nobody is served yet. Errors:
  // Dataset::Open's and LiveDataset::Open's; FailedPrecondition for another number of shards than
  // expected.
  static absl::StatusOr<std::unique_ptr<Generation>> Open(const ServerOptions& options,
                                                          const Folders& folders);
  ~Generation();
  Generation(const Generation&) = delete;
  Generation& operator=(const Generation&) = delete;

  // What its calls are answered by is what `common` says of the server, and this dataset.
  void Complete(const ServerState& common, uint64_t follows);

  // From now on it is the one in force: its files are checked in the background, its shards are
  // replicated, its metrics are shown.
  void TakeForce(MetricRegistry* metrics);
  // Another is: none of this goes on, no changes are taken, what is read may be read.
  void Retire();

  const ServerState& state() const { return state_; }
  Dataset* dataset() const { return dataset_.get(); }
  LiveDataset* live() const { return live_.get(); }  // null: it is read-only
  Replication* replication() const { return replication_.get(); }
  ShardHealth* health() { return &health_; }
  uint64_t fingerprint() const { return dataset_->fingerprint(); }
  const Folders& folders() const { return folders_; }

 private:
  Generation(const ServerOptions& options, Folders folders, std::unique_ptr<Dataset> dataset,
             std::unique_ptr<LiveDataset> live, std::unique_ptr<Replication> replication);
  void AddMetrics(MetricRegistry::Group* group);

  const ServerOptions& options_;
  const std::shared_ptr<spdlog::logger> log_;  // with whoever gave it
  const Folders folders_;
  const std::unique_ptr<Dataset> dataset_;
  const std::unique_ptr<LiveDataset> live_;
  const std::unique_ptr<Replication> replication_;  // null: nobody else has a shard of it
  ShardHealth health_;
  MatchingCache matching_;
  NonemptyCache nonempty_;
  std::atomic<DatasetStage> stage_{DatasetStage::kPrepared};
  ServerState state_;
  std::unique_ptr<DiskWatch> disk_;  // these three: while it is in force
  std::unique_ptr<MetricRegistry::Group> metrics_;
  std::unique_ptr<Scrubber> scrubber_;
};

}  // namespace vicinity
