#include "server/server.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "partition/dataset.h"
#include "partition/shard.h"
#include "proto/admin.pb.h"
#include "proto/common/bus_errors.h"
#include "proto/common/machine.h"
#include "proto/common/status.h"
#include "server/admin_server.h"
#include "server/call_counters.h"
#include "server/call_gate.h"
#include "server/client_names.h"
#include "server/connection_acceptor.h"
#include "server/connection_guard.h"
#include "server/credentials.h"
#include "server/file_handler.h"
#include "server/listen_address.h"
#include "server/logging.h"
#include "server/resource_check.h"
#include "server/scrubber.h"
#include "server/server_state.h"
#include "server/service.h"
#include "server/service_context.h"
#include "server/serving_states.h"
#include "server/shard_health.h"
#include "server/verify_handler.h"
#include "server/worker_pool.h"

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
  return trust;
}

absl::StatusOr<std::unique_ptr<Dataset>> OpenDataset(const ServerOptions& options) {
  Dataset::Options open;
  open.shards = options.shards;
  open.check_bytes = options.check_bytes_at_start;
  open.verify_at_touch = true;
  open.leave_out_damaged = true;
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<Dataset> dataset, Dataset::Open(options.data, open));
  const int32_t num_shards = dataset->book().num_shards();
  if (options.num_shards != 0 && options.num_shards != num_shards) {
    return absl::FailedPreconditionError(absl::StrCat("the dataset in ", options.data, " has ",
                                                      num_shards, " shards, the cluster file says ",
                                                      options.num_shards));
  }
  return dataset;
}

// Beside the workers: the gate's, the acceptor's and the scrubber's threads, and gRPC's own.
ResourceNeeds NeedsOf(const ServerOptions& options) {
  constexpr int kOtherThreads = 16;
  ResourceNeeds needs;
  needs.num_threads =
      static_cast<int>(CallGate::MaxRunningInAll(options.admission)) + kOtherThreads;
  return needs;
}

ConnectionLimits LimitsOfConnections(const ServerOptions& options) {
  ConnectionLimits limits;
  limits.max_connections = options.max_connections;
  limits.machines_wait = !options.behind_proxy;
  limits.max_of_machine = options.max_host_connections > 0 ? options.max_host_connections
                          : options.behind_proxy
                              ? options.max_connections
                              : std::max<int64_t>(options.max_connections / 4, 64);
  return limits;
}

void SetTransportLimits(grpc::ServerBuilder* builder) {
  grpc::ResourceQuota quota("vicinityd");
  quota.Resize(static_cast<size_t>(TotalMemory() / 4));
  builder->SetResourceQuota(quota);
  builder->SetMaxReceiveMessageSize(kMaxRequestBytes);
  builder->SetMaxSendMessageSize(-1);  // chunks are bounded by Limits
  // gRPC inflates a message before it looks at its size: a few KiB become gigabytes.
  builder->AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  // A client may have fewer calls at once; each stream costs gRPC 20 KiB before we are told of it.
  builder->AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 100);
  builder->AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, 10'000);
  // Clients may ping every 10 s while they have calls open; dead ones are noticed within 80 s, by
  // pings or by the kernel (connection_acceptor.cc).
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 10'000);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 0);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 60'000);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
  // Connections are made anew now and then, which finds moved servers and spreads clients.
  builder->AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS, 30 * 60'000);
  builder->AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS, 30'000);
}

}  // namespace

class Server::Impl {
 public:
  Impl(const ServerOptions& options, std::unique_ptr<ServerTrust> trust,
       std::unique_ptr<Dataset> dataset)
      : options_(options),
        trust_(std::move(trust)),
        dataset_(std::move(dataset)),
        log_(options.log != nullptr ? options.log : MakeSilentLogger()),
        health_(*dataset_),
        gate_(options.admission, log_.get()),
        workers_(CallGate::MaxRunningInAll(options.admission)) {
    for (const ShardId shard : dataset_->wanted()) health_.LogFault(shard, log_.get());
    if (dataset_->manifest().format_version() == 1) {
      log_->warn(
          "{}: of format version 1, whose pages have no checksums: damage is found by the check in "
          "the background alone; `vicinity partition` writes the new form",
          options.data);
    }
    state_.name = options.name;
    state_.dataset = dataset_.get();
    state_.limits = options.limits;
    state_.started = std::chrono::steady_clock::now();
    state_.health = &health_;
    state_.counters = &counters_;
    state_.gate = &gate_;
    state_.log_sink = options.log_sink.get();
    state_.stopping = &stopping_;
    if (options.security.encrypted()) state_.tls = [this] { return trust_->Tls(); };
    state_.serving = &serving_;
  }

  ~Impl() { Stop(absl::ZeroDuration()); }

  absl::Status Listen() {
    // Asked of the system first: gRPC would say only that it failed.
    VICINITY_RETURN_IF_ERROR(CheckListenAddress(options_.listen));
    grpc::ServerBuilder builder;
    SetTransportLimits(&builder);
    VICINITY_ASSIGN_OR_RETURN(
        connections_,
        ConnectionAcceptor::Listen(options_.listen, LimitsOfConnections(options_), log_.get()));
    state_.connections = connections_.get();
    to_grpc_ = builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
        trust_->Credentials(/*checks_calls=*/false));
    service_ = MakeService();
    builder.RegisterCallbackGenericService(service_.get());
    server_ = builder.BuildAndStart();
    if (server_ == nullptr) {
      return absl::UnavailableError(absl::StrCat("cannot serve on ", options_.listen.ToString()));
    }
    address_ = options_.listen;
    address_.port = connections_->port();
    SetServing(true);
    serving_.Set(kLiveHealth, true);
    scrubber_ = Scrubber::Start(dataset_.get(), Scrubber::Which::kForever,
                                options_.check_bytes_per_second, &health_, log_.get());
    connections_->Start([this](int listener_fd, int fd) {
      grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
      connection.listener_fd = listener_fd;
      connection.fd = fd;
      to_grpc_->HandleNewConnection(&connection);
    });
    return ListenForAdmins();
  }

  void Stop(absl::Duration drain) {
    if (server_ == nullptr) return;
    stopping_ = true;
    SetServing(false);
    const absl::Duration announce = std::min(drain / 2, options_.announce);
    absl::SleepFor(announce);
    connections_->Stop();
    serving_.End();
    server_->Shutdown(absl::ToChronoTime(absl::Now() + drain - announce));
    server_.reset();
    scrubber_.reset();
    admin_.reset();  // last, so that somebody may ask while the rest stops
  }

  absl::Status ReloadCredentials() { return trust_->Reload(); }

  const HostPort& address() const { return address_; }
  const HostPort* admin_address() const { return admin_ ? &admin_->address() : nullptr; }
  std::string Describe() const {
    const auto id = [](std::string* out, ShardId shard) { absl::StrAppend(out, shard.value); };
    return absl::StrCat("serving shards ", absl::StrJoin(dataset_->wanted(), ",", id), " of ",
                        dataset_->manifest().name(), " on ", address_.ToString(), " (",
                        trust_->Describe(), ")",
                        admin_ ? absl::StrCat(", admin on ", admin_->address().ToString()) : "");
  }

 private:
  void SetServing(bool serving) {
    serving_.Set("", serving);
    serving_.Set(kGraphHealth, serving);
  }

  std::unique_ptr<grpc::CallbackGenericService> MakeService() {
    context_.state = &state_;
    context_.counters = &counters_;
    context_.gate = &gate_;
    context_.workers = &workers_;
    context_.guard = connections_->guard();
    context_.clients = &clients_;
    context_.serving = &serving_;
    context_.trust = trust_.get();
    context_.log = log_.get();
    return MakeDataService(&context_);
  }

  absl::Status ListenForAdmins() {
    if (!options_.admin.has_value()) return absl::OkStatus();
    AdminActions actions;
    actions.serving = &serving_;
    actions.server = options_.name;
    actions.drain = options_.drain;
    actions.log = log_;
    actions.verify = [this](const proto::VerifyRequest& request,
                            const std::function<bool()>& gone) {
      const int64_t asked =
          static_cast<int64_t>(std::min<uint64_t>(request.bytes_per_second(), uint64_t{1} << 40));
      return VerifyFiles(dataset_.get(), asked > 0 ? asked : options_.check_bytes_per_second,
                         &health_, log_.get(), gone);
    };
    actions.read = [this](const proto::ReadFileRequest& request) {
      return ReadFilePiece(*dataset_, request);
    };
    actions.reload = [this]() -> absl::StatusOr<proto::ReloadCredentialsReply> {
      VICINITY_RETURN_IF_ERROR(trust_->Reload());
      return trust_->Facts();
    };
    VICINITY_ASSIGN_OR_RETURN(
        admin_, AdminServer::Start(*options_.admin, trust_->Credentials(/*checks_calls=*/true),
                                   std::move(actions)));
    return absl::OkStatus();
  }

  const ServerOptions options_;
  const std::unique_ptr<ServerTrust> trust_;
  const std::unique_ptr<Dataset> dataset_;
  const std::shared_ptr<spdlog::logger> log_;  // with whoever gave it
  ShardHealth health_;
  CallCounters counters_;
  CallGate gate_;
  WorkerPool workers_;
  ClientNames clients_;
  ServingStates serving_;
  std::atomic<bool> stopping_{false};
  ServerState state_;
  ServiceContext context_;
  std::unique_ptr<Scrubber> scrubber_;
  std::unique_ptr<ConnectionAcceptor> connections_;
  std::unique_ptr<grpc::CallbackGenericService> service_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> to_grpc_;
  std::unique_ptr<grpc::Server> server_;  // null once stopped
  std::unique_ptr<AdminServer> admin_;    // null: nobody asked for it
  HostPort address_;
};

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options) {
  GuardAgainstBusErrors();
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<ServerTrust> trust, CheckOptions(options));
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<Dataset> dataset, OpenDataset(options));
  // gRPC aborts where it cannot have what it needs.
  VICINITY_RETURN_IF_ERROR(CheckResources(NeedsOf(options)));
  auto impl = std::make_unique<Impl>(options, std::move(trust), std::move(dataset));
  VICINITY_RETURN_IF_ERROR(impl->Listen());
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;

const HostPort& Server::address() const { return impl_->address(); }
const HostPort* Server::admin_address() const { return impl_->admin_address(); }
absl::Status Server::ReloadCredentials() { return impl_->ReloadCredentials(); }
std::string Server::Describe() const { return impl_->Describe(); }
void Server::Stop(absl::Duration drain) { impl_->Stop(drain); }

}  // namespace vicinity
