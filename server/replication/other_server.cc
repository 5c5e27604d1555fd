#include "server/replication/other_server.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/support/channel_arguments.h>

#include <chrono>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/common/grpc_status.h"
#include "proto/common/mutex.h"
#include "proto/common/status.h"
#include "proto/service.grpc.pb.h"
#include "proto/wire_checksum.h"

namespace vicinity {
namespace {

// So that a server that has lost its power is found out, and one that is back soon, too.
grpc::ChannelArguments Settings() {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1'000);
  arguments.SetInt(GRPC_ARG_DNS_MIN_TIME_BETWEEN_RESOLUTIONS_MS, 1'000);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  return arguments;
}

class ConnectedServer final : public OtherServer {
 public:
  ConnectedServer(const std::string& name, const std::string& address,
                  const std::shared_ptr<grpc::ChannelCredentials>& credentials)
      : name_(name),
        where_(absl::StrCat("server \"", name, "\" at ", address, ": Replicate")),
        stub_(proto::Graph::NewStub(grpc::CreateCustomChannel(address, credentials, Settings()))) {}

  const std::string& name() const override { return name_; }

  absl::StatusOr<proto::ReplicateReply> Replicate(proto::ReplicateRequest request,
                                                  absl::Duration limit) override {
    const uint64_t asked = RequestChecksum("Replicate", request);
    request.set_checksum(asked);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + absl::ToChronoMilliseconds(limit));
    {
      MutexLock lock(&mu_);
      if (cancelled_) return absl::CancelledError(where_);
      running_ = &context;
    }
    proto::ReplicateReply reply;
    const grpc::Status status = stub_->Replicate(&context, request, &reply);
    {
      MutexLock lock(&mu_);
      running_ = nullptr;
    }
    if (!status.ok()) return At(where_, FromGrpc(status));
    if (ReplyChecksum(asked, reply) == reply.checksum()) return reply;
    return absl::AbortedError(absl::StrCat(where_, ": the answer was damaged on the way"));
  }

  void Cancel() override {
    MutexLock lock(&mu_);
    cancelled_ = true;
    if (running_ != nullptr) running_->TryCancel();
  }

 private:
  const std::string name_;
  const std::string where_;
  const std::unique_ptr<proto::Graph::Stub> stub_;
  Mutex mu_;
  bool cancelled_ ABSL_GUARDED_BY(mu_) = false;
  grpc::ClientContext* running_ ABSL_GUARDED_BY(mu_) = nullptr;
};

}  // namespace

std::unique_ptr<OtherServer> ConnectToServer(
    const std::string& name, const std::string& address,
    const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  return std::make_unique<ConnectedServer>(name, address, credentials);
}

}  // namespace vicinity
