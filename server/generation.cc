#include "server/generation.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "partition/dataset/shard.h"
#include "proto/common/status.h"
#include "proto/security/channel_credentials.h"
#include "proto/security/token_source.h"
#include "proto/security/watched_tls.h"
#include "server/health/disk_watch.h"
#include "server/health/index_metrics.h"
#include "server/health/live_metrics.h"
#include "server/health/store_metrics.h"
#include "server/logging/logging.h"
#include "server/server_metrics.h"

namespace vicinity {
namespace {

std::shared_ptr<spdlog::logger> LogOf(const ServerOptions& options) {
  return options.log != nullptr ? options.log : MakeSilentLogger();
}

absl::StatusOr<std::unique_ptr<Dataset>> OpenDataset(const ServerOptions& options,
                                                     const Generation::Folders& folders) {
  Dataset::Options open;
  open.shards = options.shards;
  open.check_bytes = options.check_bytes_at_start;
  open.verify_at_touch = true;
  open.leave_out_damaged = true;
  open.grows = !folders.changes.empty();
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<Dataset> dataset, Dataset::Open(folders.data, open));
  const int32_t num_shards = dataset->book().num_shards();
  if (options.num_shards != 0 && options.num_shards != num_shards) {
    return absl::FailedPreconditionError(absl::StrCat("the dataset in ", folders.data, " has ",
                                                      num_shards, " shards, the cluster file says ",
                                                      options.num_shards));
  }
  return dataset;
}

// Null: nothing is written.
absl::StatusOr<std::unique_ptr<LiveDataset>> OpenChanges(const ServerOptions& options,
                                                         const std::string& changes,
                                                         const Dataset& dataset) {
  if (changes.empty()) return nullptr;
  LiveDatasetOptions open;
  open.cache_bytes = options.changes_cache_bytes;
  open.least_free_bytes = options.changes_least_free_bytes;
  open.reserve_bytes = options.changes_reserve_bytes;
  open.servers = [replicas = options.replicas, self = options.name](ShardId shard) {
    return ServersOf(replicas, self, shard);
  };
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<LiveDataset> live,
                            LiveDataset::Open(dataset, changes, open));
  for (const ShardId shard : dataset.wanted()) {
    const absl::Status opened = live->Find(shard).status();
    if (!opened.ok() && options.log != nullptr) {
      options.log->error("{}", std::string(opened.message()));
    }
  }
  return live;
}

// Null: nothing is written.
std::unique_ptr<DiskWatch> WatchDisk(const ServerOptions& options, const LiveDataset* live,
                                     spdlog::logger* log) {
  if (live == nullptr) return nullptr;
  DiskWatchOptions watch;
  watch.folder = live->folder();
  watch.least_bytes = options.changes_least_free_bytes;
  watch.warn_bytes = options.changes_warn_free_bytes;
  if (watch.warn_bytes > 0) {
    watch.warn_bytes = std::max(watch.warn_bytes, watch.least_bytes + watch.least_bytes / 2);
  }
  return DiskWatch::Start(watch, live->reserve(), log);
}

// For connections to other servers of a live graph.
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> CredentialsOf(
    const ServerOptions& options) {
  TlsFiles files;
  if (options.security.encrypted()) files = options.security.tls;
  if (options.security.encrypted() && files.ca.empty()) {
    return absl::InvalidArgumentError(
        "the other servers of a live graph's shards are called with TLS, and no CA is named that "
        "vouches for them: `ca` of the cluster file, or --tls-ca");
  }
  std::shared_ptr<TokenSource> token;
  if (!options.replica_token_file.empty()) {
    VICINITY_ASSIGN_OR_RETURN(token, TokenSource::FromFile(options.replica_token_file));
  }
  VICINITY_ASSIGN_OR_RETURN(
      CallerCredentials made,
      MakeChannelCredentials(
          files, token,
          [log = options.log](WatchedTls::Severity severity, const std::string& text) {
            if (log == nullptr || severity == WatchedTls::Severity::kInfo) return;
            log->warn("to other servers: {}", text);
          }));
  return made.channel;
}

// Null: no shard is also on another server.
absl::StatusOr<std::unique_ptr<Replication>> MakeReplication(const ServerOptions& options,
                                                             const Dataset& dataset,
                                                             LiveDataset* live) {
  if (live == nullptr || options.replicas.empty()) return nullptr;
  VICINITY_ASSIGN_OR_RETURN(const std::shared_ptr<grpc::ChannelCredentials> credentials,
                            CredentialsOf(options));
  return std::make_unique<Replication>(options.replicas, options.name, dataset.fingerprint(),
                                       credentials, live, LogOf(options));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Generation>> Generation::Open(const ServerOptions& options,
                                                             const Folders& folders) {
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<Dataset> dataset, OpenDataset(options, folders));
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<LiveDataset> live,
                            OpenChanges(options, folders.changes, *dataset));
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<Replication> replication,
                            MakeReplication(options, *dataset, live.get()));
  return std::unique_ptr<Generation>(new Generation(options, folders, std::move(dataset),
                                                    std::move(live), std::move(replication)));
}

Generation::Generation(const ServerOptions& options, Folders folders,
                       std::unique_ptr<Dataset> dataset, std::unique_ptr<LiveDataset> live,
                       std::unique_ptr<Replication> replication)
    : options_(options),
      log_(LogOf(options)),
      folders_(std::move(folders)),
      dataset_(std::move(dataset)),
      live_(std::move(live)),
      replication_(std::move(replication)),
      health_(*dataset_),
      matching_(options.condition_bytes),
      nonempty_(dataset_->schema(), kDefaultNonemptyBytes) {
  for (const ShardId shard : dataset_->wanted()) health_.LogFault(shard, log_.get());
  if (dataset_->manifest().format_version() == 1) {
    log_->warn(
        "{}: of format version 1, whose pages have no checksums: damage is found by the check in "
        "the background alone; `vicinity partition` writes the new form",
        folders_.data);
  }
}

Generation::~Generation() {
  if (stage_ == DatasetStage::kInForce) Retire();
}

void Generation::Complete(const ServerState& common, uint64_t follows) {
  state_ = common;
  state_.dataset = dataset_.get();
  state_.live = live_.get();
  state_.replication = replication_.get();
  state_.health = &health_;
  state_.matching = &matching_;
  state_.nonempty = &nonempty_;
  state_.stage = &stage_;
  state_.follows = follows;
}

void Generation::TakeForce(MetricRegistry* metrics) {
  stage_ = DatasetStage::kInForce;
  scrubber_ = Scrubber::Start(dataset_.get(), Scrubber::Which::kForever,
                              options_.check_bytes_per_second, &health_, log_.get());
  metrics_ = std::make_unique<MetricRegistry::Group>(metrics);
  disk_ = WatchDisk(options_, live_.get(), log_.get());
  AddMetrics(metrics_.get());
  if (replication_ != nullptr) replication_->Start();
}

void Generation::AddMetrics(MetricRegistry::Group* group) {
  health_.AddMetrics(group);
  AddIndexMetrics(*dataset_, group);
  if (live_ != nullptr) AddLiveMetrics(*dataset_, *live_, group);
  if (live_ != nullptr) AddStoreMetrics(*dataset_, *live_, group);
  if (disk_ != nullptr) disk_->AddMetrics(group);
  if (replication_ != nullptr) replication_->AddMetrics(group);
  group->Add({"vicinity_server_condition_bytes",
              "Memory for which edges meet the conditions that draws go by", MetricKind::kGauge},
             {}, [this] { return static_cast<double>(matching_.num_bytes()); });
  group->Add(
      {"vicinity_server_relation_bytes",
       "Memory for which nodes have edges along which of many edge types", MetricKind::kGauge},
      {}, [this] { return static_cast<double>(nonempty_.num_bytes()); });
  AddServerMetrics(state_, options_.cluster, group);
}

void Generation::Retire() {
  if (replication_ != nullptr) replication_->Stop();
  scrubber_.reset();
  metrics_.reset();
  disk_.reset();
  stage_ = DatasetStage::kRetired;
  if (live_ == nullptr) return;
  bool is_followed = false;
  for (const ShardId id : dataset_->wanted()) {
    const auto shard = live_->Find(id);
    if (!shard.ok() || (*shard)->closed_for() == 0) continue;
    (*shard)->Retire();
    is_followed = true;
  }
  // Nothing is written to it that could want the room; who follows has a reserve of its own.
  if (is_followed) live_->reserve()->GiveUp();
}

}  // namespace vicinity
