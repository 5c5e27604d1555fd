#include "server/server.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "partition/dataset/dataset.h"
#include "proto/admin.pb.h"
#include "proto/common/bus_errors.h"
#include "proto/common/lock_order.h"
#include "proto/common/machine.h"
#include "proto/common/mutex.h"
#include "proto/common/status.h"
#include "proto/limits.h"
#include "proto/security/tls_sessions.h"
#include "proto/service.pb.h"
#include "proto/telemetry/metrics_text.h"
#include "proto/telemetry/registry.h"
#include "server/admin_server.h"
#include "server/admission/call_counters.h"
#include "server/admission/call_gate.h"
#include "server/admission/client_names.h"
#include "server/admission/worker_pool.h"
#include "server/bulk/bulk_port.h"
#include "server/calls/data_operations.h"
#include "server/calls/guarded_port.h"
#include "server/calls/server_tracing.h"
#include "server/calls/service_context.h"
#include "server/connections/connection_guard.h"
#include "server/generation.h"
#include "server/generations.h"
#include "server/handlers/chunk_source.h"
#include "server/handlers/file_handler.h"
#include "server/handlers/live/appoint_handler.h"
#include "server/handlers/server_state.h"
#include "server/handlers/status_handler.h"
#include "server/handlers/verify_handler.h"
#include "server/health/serving_states.h"
#include "server/http/http_pages.h"
#include "server/http/http_server.h"
#include "server/http/peer_watch.h"
#include "server/http/process_metrics.h"
#include "server/http/status_json.h"
#include "server/logging/logging.h"
#include "server/replication/replication.h"
#include "server/resource_check.h"
#include "server/security/credentials.h"

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
  if (options.bulk.tcp.has_value()) {
    VICINITY_RETURN_IF_ERROR(trust->CheckAddress(*options.bulk.tcp, /*is_admin=*/false));
  }
  if (options.http.has_value()) {
    // It shows what the data port's Status does, and lets nobody do anything.
    VICINITY_RETURN_IF_ERROR(trust->CheckAddress(*options.http, /*is_admin=*/false));
  }
  return trust;
}

int ThreadsOfReplication(const ServerOptions& options) {
  int threads = 0;
  for (const ShardReplicas& shard : options.replicas) {
    threads += static_cast<int>(shard.others.size());
  }
  return threads;
}

// Beside the workers: the gate's, the acceptor's, the scrubber's and the generations' threads, and
// gRPC's own; and those of replication, of the admin port and of the HTTP port.
ResourceNeeds NeedsOf(const ServerOptions& options) {
  constexpr int kOtherThreads = 16;
  ResourceNeeds needs;
  needs.num_threads =
      static_cast<int>(CallGate::MaxRunningInAll(options.admission, !options.changes.empty())) +
      kOtherThreads + ThreadsOfReplication(options) +
      (options.admin.has_value() ? AdminServer::num_threads() : 0) +
      (options.http.has_value() ? HttpServer::kNumThreads + 1 : 0) +
      (options.bulk.is_there() ? BulkPort::num_threads() + 1 : 0);
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
       std::unique_ptr<ServerTracing> tracing)
      : options_(options),
        trust_(std::move(trust)),
        tracing_(std::move(tracing)),
        log_(options.log != nullptr ? options.log : MakeSilentLogger()),
        gate_(options.admission, log_.get(), options.write_share),
        workers_(CallGate::MaxRunningInAll(options.admission, !options.changes.empty())) {
    counters_.AddMetrics(&own_metrics_);
    gate_.AddMetrics(&own_metrics_);
    tracing_->AddMetrics(&own_metrics_);
  }

  ~Impl() { Stop(absl::ZeroDuration()); }

  absl::Status Open() {
    VICINITY_ASSIGN_OR_RETURN(generations_, Generations::Open(options_, &metrics_));
    FillContext();
    return absl::OkStatus();
  }

  absl::Status Listen() {
    VICINITY_ASSIGN_OR_RETURN(port_, GuardedPort::Listen(options_.listen, LimitsOfPort(options_),
                                                         trust_->Credentials(), &context_));
    VICINITY_RETURN_IF_ERROR(ListenForBulk());
    SetServing(true);
    serving_.Set(kLiveHealth, true);
    AddProcessMetrics(&own_metrics_);
    VICINITY_RETURN_IF_ERROR(generations_->Start(CommonState()));
    port_->Start();
    if (bulk_ != nullptr) bulk_->Start();
    VICINITY_RETURN_IF_ERROR(ListenForAdmins());
    return ListenForHttp();
  }

  void Stop(absl::Duration drain) {
    if (port_ == nullptr || !BeginToStop()) return;
    const absl::Duration announce = std::min(drain / 2, options_.announce);
    absl::SleepFor(announce);
    port_->StopListening();
    if (bulk_ != nullptr) bulk_->StopListening();
    serving_.End();
    const auto deadline = absl::ToChronoTime(absl::Now() + drain - announce);
    port_->Stop(deadline);
    if (bulk_ != nullptr) bulk_->Stop(deadline);
    generations_->Stop();
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
    const std::shared_ptr<Generation> now = generations_->in_force();
    const Dataset& dataset = *now->dataset();
    return absl::StrCat("serving shards ", absl::StrJoin(dataset.wanted(), ",", id), " of ",
                        dataset.manifest().name(), now->live() != nullptr ? ", live," : "", " on ",
                        address().ToString(), " (", trust_->Describe(), ")",
                        bulk_ ? absl::StrCat(", ", bulk_->Describe()) : "",
                        admin_ ? absl::StrCat(", admin on ", admin_->address().ToString()) : "",
                        http_ ? absl::StrCat(", http on ", http_->address().ToString()) : "");
  }

 private:
  // False if it has begun before.
  bool BeginToStop() {
    MutexLock lock(&turning_mu_);
    if (std::exchange(stops_, true)) return false;
    turns_away_ = true;
    SetServing(false);
    return true;
  }

  // Clients turn to other replicas, or come again.
  absl::Status TurnAway(bool away) {
    MutexLock lock(&turning_mu_);
    if (stops_) return absl::FailedPreconditionError("the server ends");
    turns_away_ = away;
    SetServing(!away);
    return absl::OkStatus();
  }

  void SetServing(bool serving) {
    serving_.Set("", serving);
    serving_.Set(kGraphHealth, serving);
  }

  void FillContext() {
    context_.operations = DataOperations();
    context_.states = generations_.get();
    context_.counters = &counters_;
    context_.gate = &gate_;
    context_.workers = &workers_;
    context_.clients = &clients_;
    context_.serving = &serving_;
    context_.trust = trust_.get();
    context_.log = log_.get();
    context_.tracing = tracing_.get();
  }

  // But for what is a dataset's own.
  ServerState CommonState() {
    ServerState state;
    state.name = options_.name;
    state.limits = options_.limits;
    state.started = std::chrono::steady_clock::now();
    state.counters = &counters_;
    state.gate = &gate_;
    state.metrics = &metrics_;
    state.connections = port_->connections();
    state.log_sink = options_.log_sink.get();
    state.stopping = &turns_away_;
    state.serving = &serving_;
    state.has_bulk = bulk_ != nullptr;
    if (options_.security.encrypted()) state.tls = [this] { return trust_->Tls(); };
    return state;
  }

  // Tickets are given by calls of the data port.
  absl::Status ListenForBulk() {
    if (!options_.bulk.is_there()) return absl::OkStatus();
    std::unique_ptr<TlsSessions> tls;
    if (trust_->encrypted()) {
      TlsSessions::Options sessions;
      sessions.material = [this] { return trust_->Material(); };
      // Who calls has proven that over gRPC, where tickets are given.
      sessions.wants_certificates = false;
      sessions.only_newest = true;
      tls = std::make_unique<TlsSessions>(std::move(sessions));
    }
    VICINITY_ASSIGN_OR_RETURN(bulk_, BulkPort::Listen(options_.bulk, LimitsOfConnections(options_),
                                                      &context_, std::move(tls)));
    context_.bulk = bulk_->tickets();
    bulk_metrics_ = std::make_unique<MetricRegistry::Group>(&metrics_);
    bulk_->AddMetrics(bulk_metrics_.get());
    return absl::OkStatus();
  }

  absl::Status ListenForAdmins() {
    if (!options_.admin.has_value()) return absl::OkStatus();
    AdminActions actions;
    actions.server = options_.name;
    actions.drain = options_.drain;
    actions.turn_away = [this](bool away) { return TurnAway(away); };
    actions.log = log_;
    actions.ring = options_.log_ring;
    actions.flags = options_.flags;
    actions.verify = [this](const proto::VerifyRequest& request, IsGone is_gone) {
      const int64_t asked =
          static_cast<int64_t>(std::min<uint64_t>(request.bytes_per_second(), uint64_t{1} << 40));
      const std::shared_ptr<Generation> now = generations_->in_force();
      return VerifyFiles(now->dataset(), asked > 0 ? asked : options_.check_bytes_per_second,
                         now->health(), log_.get(), is_gone);
    };
    actions.read = [this](const proto::ReadFileRequest& request) {
      return ReadFilePiece(*generations_->Of(request.fingerprint())->dataset, request);
    };
    actions.appoint = [this](const proto::AppointRequest& request) {
      return Appoint(*generations_->Of(request.fingerprint()), request);
    };
    actions.swap = [this](const proto::SwapRequest& request) {
      return generations_->Swap(request);
    };
    actions.traces = [this](const proto::TracesRequest& request) {
      return tracing_->Show(request);
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
    const auto status = ReportStatus(*generations_->Of(0), proto::StatusRequest());
    return StatusJson(status.value_or(proto::StatusReply()), metrics_.Collect(),
                      {options_.cluster, peers_->Ask()});
  }

  const ServerOptions options_;
  const std::unique_ptr<ServerTrust> trust_;
  const std::unique_ptr<ServerTracing> tracing_;
  const std::shared_ptr<spdlog::logger> log_;  // with whoever gave it
  CallCounters counters_{CountedMethods(DataOperations())};
  CallGate gate_;
  MetricRegistry metrics_;
  MetricRegistry::Group own_metrics_{&metrics_};
  WorkerPool workers_;
  ClientNames clients_;
  ServingStates serving_;
  Mutex turning_mu_;
  bool stops_ ABSL_GUARDED_BY(turning_mu_) = false;
  std::atomic<bool> turns_away_{false};  // with what is said to health checks
  std::unique_ptr<Generations> generations_;
  ServiceContext context_;
  std::unique_ptr<GuardedPort> port_;
  std::unique_ptr<BulkPort> bulk_;  // null: there is no bulk channel
  std::unique_ptr<MetricRegistry::Group> bulk_metrics_;
  std::unique_ptr<AdminServer> admin_;  // null: nobody asked for it
  std::unique_ptr<PeerWatch> peers_;    // these three likewise
  std::unique_ptr<HttpServer> http_;
  std::unique_ptr<MetricRegistry::Group> http_metrics_;
};

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options) {
  GuardAgainstBusErrors();
  IgnoreLockOrder();
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<ServerTrust> trust, CheckOptions(options));
  // gRPC aborts where it cannot have what it needs.
  VICINITY_RETURN_IF_ERROR(CheckResources(NeedsOf(options)));
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<ServerTracing> tracing,
                            ServerTracing::Start(options.tracing, options.name));
  auto impl = std::make_unique<Impl>(options, std::move(trust), std::move(tracing));
  VICINITY_RETURN_IF_ERROR(impl->Open());
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
