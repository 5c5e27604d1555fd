#include "server/admin_server.h"

#include <grpcpp/resource_quota.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>
#include <grpcpp/support/sync_stream.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/admin.grpc.pb.h"
#include "proto/common/grpc_status.h"
#include "proto/common/status.h"
#include "proto/health.grpc.pb.h"
#include "proto/reflection.grpc.pb.h"
#include "server/connection_acceptor.h"
#include "server/connection_guard.h"
#include "server/health_handler.h"
#include "server/listen_address.h"
#include "server/logging.h"
#include "server/reflection_handler.h"
#include "server/serving_states.h"

namespace vicinity {
namespace {

using grpc::ServerContext;

absl::Status NotHere() { return absl::UnimplementedError("this server was not told how"); }

class AdminService final : public proto::Admin::Service {
 public:
  explicit AdminService(AdminActions actions) : actions_(std::move(actions)) {}

  grpc::Status Drain(ServerContext* context, const proto::DrainRequest*,
                     proto::DrainReply* reply) override {
    if (!actions_.drain) return ToGrpc(NotHere());
    reply->set_server(actions_.server);
    actions_.log->info("drain asked for by {}", context->peer());
    // Once: what a second signal does is end the server at once, and the calls under way with it.
    if (!draining_.exchange(true)) actions_.drain();
    return grpc::Status::OK;
  }

  grpc::Status SetLogLevel(ServerContext* context, const proto::SetLogLevelRequest* request,
                           proto::SetLogLevelReply* reply) override {
    const auto level = ParseLogLevel(request->level());
    if (!level.ok()) return ToGrpc(level.status());
    reply->set_before(LogLevelName(actions_.log->level()));
    actions_.log->set_level(*level);
    actions_.log->info("log level {} asked for by {}", request->level(), context->peer());
    return grpc::Status::OK;
  }

  grpc::Status Verify(ServerContext* context, const proto::VerifyRequest* request,
                      proto::VerifyReply* reply) override {
    if (!actions_.verify) return ToGrpc(NotHere());
    if (verifying_.exchange(true)) {
      return ToGrpc(absl::FailedPreconditionError("another call has the files read already"));
    }
    actions_.log->info("verification asked for by {}", context->peer());
    const auto answer = actions_.verify(*request, [context] { return context->IsCancelled(); });
    verifying_ = false;
    if (answer.ok()) *reply = *answer;
    return ToGrpc(answer.status());
  }

  grpc::Status ReadFile(ServerContext* context, const proto::ReadFileRequest* request,
                        proto::ReadFileReply* reply) override {
    if (!actions_.read) return ToGrpc(NotHere());
    if (request->offset() == 0) {
      actions_.log->info("{} asked for by {}", request->path(), context->peer());
    }
    auto answer = actions_.read(*request);
    if (answer.ok()) *reply = *std::move(answer);
    return ToGrpc(answer.status());
  }

  grpc::Status ReloadCredentials(ServerContext* context, const proto::ReloadCredentialsRequest*,
                                 proto::ReloadCredentialsReply* reply) override {
    if (!actions_.reload) return ToGrpc(NotHere());
    actions_.log->info("reload asked for by {}", context->peer());
    const auto answer = actions_.reload();
    if (answer.ok()) *reply = *answer;
    return ToGrpc(answer.status());
  }

 private:
  const AdminActions actions_;
  std::atomic<bool> verifying_{false};
  std::atomic<bool> draining_{false};
};

class HealthService final : public grpc::health::v1::Health::Service {
 public:
  explicit HealthService(const ServingStates* states) : states_(states) {}

  grpc::Status Check(ServerContext*, const grpc::health::v1::HealthCheckRequest* request,
                     grpc::health::v1::HealthCheckResponse* reply) override {
    if (states_ == nullptr) return ToGrpc(NotHere());
    const auto answer = CheckHealthOf(*states_, *request);
    if (answer.ok()) *reply = *answer;
    return ToGrpc(answer.status());
  }

 private:
  const ServingStates* const states_;
};

class ReflectionService final : public grpc::reflection::v1alpha::ServerReflection::Service {
 public:
  using Request = grpc::reflection::v1alpha::ServerReflectionRequest;
  using Reply = grpc::reflection::v1alpha::ServerReflectionResponse;

  grpc::Status ServerReflectionInfo(ServerContext*,
                                    grpc::ServerReaderWriter<Reply, Request>* stream) override {
    const google::protobuf::FileDescriptor* const files[] = {
        proto::DrainRequest::descriptor()->file(),
        grpc::health::v1::HealthCheckRequest::descriptor()->file(),
        Request::descriptor()->file(),
    };
    Request request;
    while (stream->Read(&request)) {
      if (!stream->Write(ReflectFiles(files, request))) break;
    }
    return grpc::Status::OK;
  }
};

// Calls are not told of to the guard here, since they are few and small.
ConnectionLimits LimitsOfAdmins() {
  ConnectionLimits limits;
  limits.max_connections = 64;
  limits.max_of_machine = 64;
  limits.time_to_prove = std::chrono::hours(24);
  limits.vain_bytes = std::numeric_limits<double>::infinity();
  return limits;
}

}  // namespace

class AdminServer::Impl {
 public:
  explicit Impl(const AdminActions& actions)
      : log_(actions.log), health_(actions.serving), service_(actions) {}

  ~Impl() {
    if (connections_ != nullptr) connections_->Stop();
    if (server_ == nullptr) return;
    // A moment for answers on their way: the caller of a drain waits for one.
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(200));
  }

  absl::Status Listen(const HostPort& listen,
                      const std::shared_ptr<grpc::ServerCredentials>& credentials) {
    VICINITY_RETURN_IF_ERROR(CheckListenAddress(listen));
    grpc::ServerBuilder builder;
    grpc::ResourceQuota quota("vicinityd admin");
    quota.SetMaxThreads(8);
    quota.Resize(size_t{64} << 20);
    builder.SetResourceQuota(quota);
    builder.SetMaxReceiveMessageSize(64 << 10);
    // gRPC inflates a message before it looks at its size.
    builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 16);
    builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, 10'000);
    VICINITY_ASSIGN_OR_RETURN(connections_,
                              ConnectionAcceptor::Listen(listen, LimitsOfAdmins(), log_.get()));
    to_grpc_ = builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, credentials);
    builder.RegisterService(&service_);
    builder.RegisterService(&health_);
    builder.RegisterService(&reflection_);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr) {
      return absl::UnavailableError(absl::StrCat("cannot serve on ", listen.ToString()));
    }
    address_ = listen;
    address_.port = connections_->port();
    connections_->Start([this](int listener_fd, int fd) {
      grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
      connection.listener_fd = listener_fd;
      connection.fd = fd;
      to_grpc_->HandleNewConnection(&connection);
    });
    return absl::OkStatus();
  }

  const HostPort& address() const { return address_; }

 private:
  const std::shared_ptr<spdlog::logger> log_;  // with whoever gave it
  HealthService health_;
  ReflectionService reflection_;
  AdminService service_;
  std::unique_ptr<ConnectionAcceptor> connections_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> to_grpc_;
  std::unique_ptr<grpc::Server> server_;
  HostPort address_;
};

absl::StatusOr<std::unique_ptr<AdminServer>> AdminServer::Start(
    const HostPort& listen, const std::shared_ptr<grpc::ServerCredentials>& credentials,
    AdminActions actions) {
  auto impl = std::make_unique<Impl>(actions);
  VICINITY_RETURN_IF_ERROR(impl->Listen(listen, credentials));
  return std::unique_ptr<AdminServer>(new AdminServer(std::move(impl)));
}

AdminServer::AdminServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
AdminServer::~AdminServer() = default;

const HostPort& AdminServer::address() const { return impl_->address(); }

}  // namespace vicinity
