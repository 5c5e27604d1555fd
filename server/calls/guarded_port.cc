#include "server/calls/guarded_port.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/common/status.h"
#include "server/calls/service.h"
#include "server/connections/listen_address.h"

namespace vicinity {
namespace {

using Acceptor = grpc::experimental::ExternalConnectionAcceptor;
using AcceptorKind = grpc::ServerBuilder::experimental_type::ExternalConnectionType;

constexpr int kMostReadBytes = 64 << 10;

void SetTransportLimits(const HostPort& listen, const PortLimits& limits,
                        grpc::ServerBuilder* builder) {
  grpc::ResourceQuota quota(absl::StrCat("vicinityd at ", listen.ToString()));
  quota.Resize(static_cast<size_t>(limits.memory_bytes));
  builder->SetResourceQuota(quota);
  builder->SetMaxReceiveMessageSize(limits.max_request_bytes);
  builder->SetMaxSendMessageSize(-1);  // chunks are bounded by Limits
  // gRPC inflates a message before it looks at its size: a few KiB become gigabytes.
  builder->AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  builder->AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, limits.max_streams);
  // What has been read is parsed, whether its connection has been cut off meanwhile or not.
  builder->AddChannelArgument(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, kMostReadBytes);
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

class GuardedPort::Impl {
 public:
  ~Impl() { Stop(std::chrono::system_clock::now()); }

  absl::Status Listen(const HostPort& listen, const PortLimits& limits,
                      const std::shared_ptr<grpc::ServerCredentials>& credentials,
                      ServiceContext* context) {
    // Asked of the system first: gRPC would say only that it failed.
    VICINITY_RETURN_IF_ERROR(CheckListenAddress(listen));
    VICINITY_ASSIGN_OR_RETURN(connections_,
                              ConnectionAcceptor::Listen(listen, limits.connections, context->log));
    context->guard = connections_->guard();
    grpc::ServerBuilder builder;
    SetTransportLimits(listen, limits, &builder);
    to_grpc_ =
        builder.experimental().AddExternalConnectionAcceptor(AcceptorKind::FROM_FD, credentials);
    service_ = MakeService(context);
    builder.RegisterCallbackGenericService(service_.get());
    server_ = builder.BuildAndStart();
    if (server_ == nullptr) {
      return absl::UnavailableError(absl::StrCat("cannot serve on ", listen.ToString()));
    }
    address_ = listen;
    address_.port = connections_->port();
    return absl::OkStatus();
  }

  void Start() {
    connections_->Start([this](int listener_fd, int fd) {
      Acceptor::NewConnectionParameters connection;
      connection.listener_fd = listener_fd;
      connection.fd = fd;
      to_grpc_->HandleNewConnection(&connection);
    });
  }

  void StopListening() {
    if (connections_ != nullptr) connections_->Stop();
  }

  void Stop(std::chrono::system_clock::time_point deadline) {
    StopListening();
    if (server_ == nullptr) return;
    server_->Shutdown(deadline);
    server_.reset();
  }

  const HostPort& address() const { return address_; }
  ConnectionAcceptor* connections() { return connections_.get(); }

 private:
  std::unique_ptr<ConnectionAcceptor> connections_;
  std::unique_ptr<grpc::CallbackGenericService> service_;
  std::unique_ptr<Acceptor> to_grpc_;
  std::unique_ptr<grpc::Server> server_;  // null once stopped
  HostPort address_;
};

absl::StatusOr<std::unique_ptr<GuardedPort>> GuardedPort::Listen(
    const HostPort& listen, const PortLimits& limits,
    const std::shared_ptr<grpc::ServerCredentials>& credentials, ServiceContext* context) {
  auto impl = std::make_unique<Impl>();
  VICINITY_RETURN_IF_ERROR(impl->Listen(listen, limits, credentials, context));
  return std::unique_ptr<GuardedPort>(new GuardedPort(std::move(impl)));
}

GuardedPort::GuardedPort(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
GuardedPort::~GuardedPort() = default;

void GuardedPort::Start() { impl_->Start(); }
void GuardedPort::StopListening() { impl_->StopListening(); }
void GuardedPort::Stop(std::chrono::system_clock::time_point deadline) { impl_->Stop(deadline); }
const HostPort& GuardedPort::address() const { return impl_->address(); }
ConnectionAcceptor* GuardedPort::connections() { return impl_->connections(); }

}  // namespace vicinity
