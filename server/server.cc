#include "server/server.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/overlay/live_dataset.h"
#include "proto/admin.pb.h"
#include "proto/common/bus_errors.h"
#include "proto/common/lock_order.h"
#include "proto/common/machine.h"
#include "proto/common/status.h"
#include "proto/limits.h"
#include "proto/security/channel_credentials.h"
#include "proto/security/token_source.h"
#include "proto/security/watched_tls.h"
#include "proto/service.pb.h"
#include "proto/telemetry/registry.h"
#include "sampler/relations/nonempty_cache.h"
#include "server/admin_server.h"
#include "server/admission/call_counters.h"
#include "server/admission/call_gate.h"
#include "server/admission/client_names.h"
#include "server/admission/worker_pool.h"
#include "server/calls/data_operations.h"
#include "server/calls/guarded_port.h"
#include "server/calls/service_context.h"
#include "server/connections/connection_guard.h"
#include "server/handlers/chunk_source.h"
#include "server/handlers/file_handler.h"
#include "server/handlers/live/appoint_handler.h"
#include "server/handlers/server_state.h"
#include "server/handlers/status_handler.h"
#include "server/handlers/verify_handler.h"
#include "server/health/index_metrics.h"
#include "server/health/live_metrics.h"
#include "server/health/scrubber.h"
#include "server/health/serving_states.h"
#include "server/health/shard_health.h"
#include "server/health/store_metrics.h"
#include "server/http/http_pages.h"
#include "server/http/http_server.h"
#include "server/http/metrics_text.h"
#include "server/http/peer_watch.h"
#include "server/http/process_metrics.h"
#include "server/http/status_json.h"
#include "server/logging/logging.h"
#include "server/replication/replication.h"
#include "server/resource_check.h"
#include "server/security/credentials.h"
#include "server/server_metrics.h"

namespace vicinity {
namespace {

constexpr char kGraphHealth[] = "vicinity.proto.Graph";
constexpr char kLiveHealth[] = "live";  // for liveness probes: true until the process ends

absl::StatusOr<std::unique_ptr<ServerTrust>> CheckOptions(const ServerOptions& options) {
  VICINITY_RETURN_IF_ERROR(options.limits.Validate());
  VICINITY_RETURN_IF_ERROR(options.admission.Validate());
  VICINITY_ASSIGN_OR_RETURN(
      std::unique_ptr<ServerTrust> trust,
      ServerTrust::Load(options.security,
                        options.log != nullptr ? options.log : MakeSilentLogger()));
  VICINITY_RETURN_IF_ERROR(trust->CheckAddress(options.listen, /*is_admin=*/false));
  if (options.admin.has_value()) {
    VICINITY_RETURN_IF_ERROR(trust->CheckAddress(*options.admin, /*is_admin=*/true));
  }
  if (options.http.has_value()) {
    // It shows what the data port's Status does, and lets nobody do anything.
    VICINITY_RETURN_IF_ERROR(trust->CheckAddress(*options.http, /*is_admin=*/false));
  }
  return trust;
}

absl::StatusOr<std::unique_ptr<Dataset>> OpenDataset(const ServerOptions& options) {
  Dataset::Options open;
  open.shards = options.shards;
  open.check_bytes = options.check_bytes_at_start;
  open.verify_at_touch = true;
  open.leave_out_damaged = true;
  open.grows = !options.changes.empty();
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<Dataset> dataset, Dataset::Open(options.data, open));
  const int32_t num_shards = dataset->book().num_shards();
  if (options.num_shards != 0 && options.num_shards != num_shards) {
    return absl::FailedPreconditionError(absl::StrCat("the dataset in ", options.data, " has ",
                                                      num_shards, " shards, the cluster file says ",
                                                      options.num_shards));
  }
  return dataset;
}

// Null: nothing is written.
absl::StatusOr<std::unique_ptr<LiveDataset>> OpenChanges(const ServerOptions& options,
                                                         const Dataset& dataset) {
  if (options.changes.empty()) return nullptr;
  LiveDatasetOptions open;
  open.cache_bytes = options.changes_cache_bytes;
  open.least_free_bytes = options.changes_least_free_bytes;
  open.servers = [replicas = options.replicas, self = options.name](ShardId shard) {
    return ServersOf(replicas, self, shard);
  };
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<LiveDataset> live,
                            LiveDataset::Open(dataset, options.changes, open));
  for (const ShardId shard : dataset.wanted()) {
    const absl::Status opened = live->Find(shard).status();
    if (!opened.ok() && options.log != nullptr) {
      options.log->error("{}", std::string(opened.message()));
    }
  }
  return live;
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
  return MakeChannelCredentials(
      files, token, [log = options.log](WatchedTls::Severity severity, const std::string& text) {
        if (log == nullptr || severity == WatchedTls::Severity::kInfo) return;
        log->warn("to other servers: {}", text);
      });
}

// Null: no shard is also on another server.
absl::StatusOr<std::unique_ptr<Replication>> MakeReplication(const ServerOptions& options,
                                                             const Dataset& dataset,
                                                             LiveDataset* live) {
  if (live == nullptr || options.replicas.empty()) return nullptr;
  VICINITY_ASSIGN_OR_RETURN(const std::shared_ptr<grpc::ChannelCredentials> credentials,
                            CredentialsOf(options));
  return std::make_unique<Replication>(options.replicas, options.name, dataset.fingerprint(),
                                       credentials, live,
                                       options.log != nullptr ? options.log : MakeSilentLogger());
}

int ThreadsOfReplication(const ServerOptions& options) {
  int threads = 0;
  for (const ShardReplicas& shard : options.replicas) {
    threads += static_cast<int>(shard.others.size());
  }
  return threads;
}

// Beside the workers: the gate's, the acceptor's and the scrubber's threads, and gRPC's own; and
// those of replication, of the admin port and of the HTTP port.
ResourceNeeds NeedsOf(const ServerOptions& options) {
  constexpr int kOtherThreads = 16;
  ResourceNeeds needs;
  needs.num_threads =
      static_cast<int>(CallGate::MaxRunningInAll(options.admission, !options.changes.empty())) +
      kOtherThreads + ThreadsOfReplication(options) +
      (options.admin.has_value() ? AdminServer::num_threads() : 0) +
      (options.http.has_value() ? HttpServer::kNumThreads + 1 : 0);
  return needs;
}

ConnectionLimits LimitsOfConnections(const ServerOptions& options) {
  ConnectionLimits limits;
  limits.max_connections = options.max_connections;
  // A handshake takes a core a millisecond, so that newcomers get a tenth of all there are.
  if (options.security.encrypted()) limits.new_at_once = 2 * int64_t{NumCores()};
  limits.machines_wait = !options.behind_proxy;
  limits.max_of_machine = options.max_host_connections > 0 ? options.max_host_connections
                          : options.behind_proxy
                              ? options.max_connections
                              : std::max<int64_t>(options.max_connections / 4, 64);
  return limits;
}

PortLimits LimitsOfPort(const ServerOptions& options) {
  PortLimits limits;
  limits.memory_bytes = TotalMemory() / 4;
  limits.max_request_bytes = kMaxRequestBytes;
  limits.connections = LimitsOfConnections(options);
  return limits;
}

}  // namespace

class Server::Impl {
 public:
  Impl(const ServerOptions& options, std::unique_ptr<ServerTrust> trust,
       std::unique_ptr<Dataset> dataset, std::unique_ptr<LiveDataset> live,
       std::unique_ptr<Replication> replication)
      : options_(options),
        trust_(std::move(trust)),
        dataset_(std::move(dataset)),
        live_(std::move(live)),
        replication_(std::move(replication)),
        log_(options.log != nullptr ? options.log : MakeSilentLogger()),
        health_(*dataset_),
        gate_(options.admission, log_.get()),
        matching_(options.condition_bytes),
        nonempty_(dataset_->schema(), kDefaultNonemptyBytes),
        workers_(CallGate::MaxRunningInAll(options.admission, !options.changes.empty())) {
    for (const ShardId shard : dataset_->wanted()) health_.LogFault(shard, log_.get());
    if (dataset_->manifest().format_version() == 1) {
      log_->warn(
          "{}: of format version 1, whose pages have no checksums: damage is found by the check in "
          "the background alone; `vicinity partition` writes the new form",
          options.data);
    }
    state_.name = options.name;
    state_.dataset = dataset_.get();
    state_.live = live_.get();
    state_.replication = replication_.get();
    state_.limits = options.limits;
    state_.started = std::chrono::steady_clock::now();
    state_.health = &health_;
    state_.counters = &counters_;
    state_.gate = &gate_;
    state_.metrics = &metrics_;
    state_.log_sink = options.log_sink.get();
    state_.stopping = &stopping_;
    state_.matching = &matching_;
    state_.nonempty = &nonempty_;
    if (options.security.encrypted()) state_.tls = [this] { return trust_->Tls(); };
    state_.serving = &serving_;
    FillContext();
    counters_.AddMetrics(&own_metrics_);
    gate_.AddMetrics(&own_metrics_);
    health_.AddMetrics(&own_metrics_);
    AddIndexMetrics(*dataset_, &own_metrics_);
    if (live_ != nullptr) AddLiveMetrics(*dataset_, *live_, &own_metrics_);
    if (live_ != nullptr) AddStoreMetrics(*dataset_, *live_, &own_metrics_);
    if (replication_ != nullptr) replication_->AddMetrics(&own_metrics_);
    own_metrics_.Add(
        {"vicinity_server_condition_bytes",
         "Memory for which edges meet the conditions that draws go by", MetricKind::kGauge},
        {}, [this] { return static_cast<double>(matching_.num_bytes()); });
    own_metrics_.Add(
        {"vicinity_server_relation_bytes",
         "Memory for which nodes have edges along which of many edge types", MetricKind::kGauge},
        {}, [this] { return static_cast<double>(nonempty_.num_bytes()); });
  }

  ~Impl() { Stop(absl::ZeroDuration()); }

  absl::Status Listen() {
    VICINITY_ASSIGN_OR_RETURN(port_, GuardedPort::Listen(options_.listen, LimitsOfPort(options_),
                                                         trust_->Credentials(), &context_));
    state_.connections = port_->connections();
    SetServing(true);
    serving_.Set(kLiveHealth, true);
    scrubber_ = Scrubber::Start(dataset_.get(), Scrubber::Which::kForever,
                                options_.check_bytes_per_second, &health_, log_.get());
    AddServerMetrics(state_, options_.cluster, &own_metrics_);
    AddProcessMetrics(&own_metrics_);
    port_->Start();
    if (replication_ != nullptr) replication_->Start();
    VICINITY_RETURN_IF_ERROR(ListenForAdmins());
    return ListenForHttp();
  }

  void Stop(absl::Duration drain) {
    if (port_ == nullptr || stopping_.exchange(true)) return;
    SetServing(false);
    const absl::Duration announce = std::min(drain / 2, options_.announce);
    absl::SleepFor(announce);
    port_->StopListening();
    serving_.End();
    port_->Stop(absl::ToChronoTime(absl::Now() + drain - announce));
    if (replication_ != nullptr) replication_->Stop();
    scrubber_.reset();
    // Last, so that somebody may ask while the rest stops.
    admin_.reset();
    http_metrics_.reset();
    http_.reset();
  }

  absl::Status ReloadCredentials() { return trust_->Reload(); }

  const HostPort& address() const { return port_->address(); }
  const HostPort* admin_address() const { return admin_ ? &admin_->address() : nullptr; }
  const HostPort* http_address() const { return http_ ? &http_->address() : nullptr; }
  std::string Describe() const {
    const auto id = [](std::string* out, ShardId shard) { absl::StrAppend(out, shard.value); };
    return absl::StrCat("serving shards ", absl::StrJoin(dataset_->wanted(), ",", id), " of ",
                        dataset_->manifest().name(), live_ != nullptr ? ", live," : "", " on ",
                        address().ToString(), " (", trust_->Describe(), ")",
                        admin_ ? absl::StrCat(", admin on ", admin_->address().ToString()) : "",
                        http_ ? absl::StrCat(", http on ", http_->address().ToString()) : "");
  }

 private:
  void SetServing(bool serving) {
    serving_.Set("", serving);
    serving_.Set(kGraphHealth, serving);
  }

  void FillContext() {
    context_.operations = DataOperations();
    context_.state = &state_;
    context_.counters = &counters_;
    context_.gate = &gate_;
    context_.workers = &workers_;
    context_.clients = &clients_;
    context_.serving = &serving_;
    context_.trust = trust_.get();
    context_.log = log_.get();
  }

  absl::Status ListenForAdmins() {
    if (!options_.admin.has_value()) return absl::OkStatus();
    AdminActions actions;
    actions.server = options_.name;
    actions.drain = options_.drain;
    actions.log = log_;
    actions.verify = [this](const proto::VerifyRequest& request, IsGone is_gone) {
      const int64_t asked =
          static_cast<int64_t>(std::min<uint64_t>(request.bytes_per_second(), uint64_t{1} << 40));
      return VerifyFiles(dataset_.get(), asked > 0 ? asked : options_.check_bytes_per_second,
                         &health_, log_.get(), is_gone);
    };
    actions.read = [this](const proto::ReadFileRequest& request) {
      return ReadFilePiece(*dataset_, request);
    };
    actions.appoint = [this](const proto::AppointRequest& request) {
      return Appoint(state_, request);
    };
    actions.reload = [this]() -> absl::StatusOr<proto::ReloadCredentialsReply> {
      VICINITY_RETURN_IF_ERROR(trust_->Reload());
      return trust_->Facts();
    };
    VICINITY_ASSIGN_OR_RETURN(
        admin_, AdminServer::Start(*options_.admin, trust_.get(), &serving_, std::move(actions)));
    return absl::OkStatus();
  }

  absl::Status ListenForHttp() {
    if (!options_.http.has_value()) return absl::OkStatus();
    std::vector<std::string> addresses;
    for (const ClusterServer& server : options_.cluster) addresses.push_back(server.advertise);
    peers_ = std::make_unique<PeerWatch>(addresses);
    PageSources sources;
    sources.metrics = [this] { return MetricsText(metrics_); };
    sources.status = [this] { return ShowStatus(); };
    sources.is_ready = [this] { return serving_.Of("").value_or(false); };
    VICINITY_ASSIGN_OR_RETURN(http_,
                              HttpServer::Start(*options_.http, trust_.get(), std::move(sources)));
    http_metrics_ = std::make_unique<MetricRegistry::Group>(&metrics_);
    http_->AddMetrics(http_metrics_.get());
    return absl::OkStatus();
  }

  std::string ShowStatus() {
    const auto status = ReportStatus(state_, proto::StatusRequest());
    return StatusJson(status.value_or(proto::StatusReply()), metrics_.Collect(),
                      {options_.cluster, peers_->Ask()});
  }

  const ServerOptions options_;
  const std::unique_ptr<ServerTrust> trust_;
  const std::unique_ptr<Dataset> dataset_;
  const std::unique_ptr<LiveDataset> live_;         // null: read-only
  const std::unique_ptr<Replication> replication_;  // null: nobody else has a shard of it
  const std::shared_ptr<spdlog::logger> log_;       // with whoever gave it
  ShardHealth health_;
  CallCounters counters_{CountedMethods(DataOperations())};
  CallGate gate_;
  MatchingCache matching_;
  NonemptyCache nonempty_;
  MetricRegistry metrics_;
  MetricRegistry::Group own_metrics_{&metrics_};
  WorkerPool workers_;
  ClientNames clients_;
  ServingStates serving_;
  std::atomic<bool> stopping_{false};
  ServerState state_;
  ServiceContext context_;
  std::unique_ptr<Scrubber> scrubber_;
  std::unique_ptr<GuardedPort> port_;
  std::unique_ptr<AdminServer> admin_;  // null: nobody asked for it
  std::unique_ptr<PeerWatch> peers_;    // these three likewise
  std::unique_ptr<HttpServer> http_;
  std::unique_ptr<MetricRegistry::Group> http_metrics_;
};

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options) {
  GuardAgainstBusErrors();
  IgnoreLockOrder();
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<ServerTrust> trust, CheckOptions(options));
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<Dataset> dataset, OpenDataset(options));
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<LiveDataset> live, OpenChanges(options, *dataset));
  // gRPC aborts where it cannot have what it needs.
  VICINITY_RETURN_IF_ERROR(CheckResources(NeedsOf(options)));
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<Replication> replication,
                            MakeReplication(options, *dataset, live.get()));
  auto impl = std::make_unique<Impl>(options, std::move(trust), std::move(dataset), std::move(live),
                                     std::move(replication));
  VICINITY_RETURN_IF_ERROR(impl->Listen());
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;

const HostPort& Server::address() const { return impl_->address(); }
const HostPort* Server::admin_address() const { return impl_->admin_address(); }
const HostPort* Server::http_address() const { return impl_->http_address(); }
absl::Status Server::ReloadCredentials() { return impl_->ReloadCredentials(); }
std::string Server::Describe() const { return impl_->Describe(); }
void Server::Stop(absl::Duration drain) { impl_->Stop(drain); }

}  // namespace vicinity
