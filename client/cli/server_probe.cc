#include "client/cli/server_probe.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <memory>

#include "absl/time/clock.h"
#include "proto/common/grpc_status.h"
#include "proto/common/status.h"
#include "proto/health.grpc.pb.h"
#include "proto/service.grpc.pb.h"

namespace vicinity::cli {
namespace {

std::shared_ptr<grpc::Channel> Connect(const std::string& address) {
  grpc::ChannelArguments arguments;
  // A proxy of the environment is for the web.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

// Makes one unary call.
template <typename Reply, typename Stub, typename Request>
absl::StatusOr<Reply> Ask(const std::unique_ptr<Stub>& stub,
                          grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                       Reply*),
                          const Request& request, absl::Duration timeout) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + timeout));
  Reply reply;
  VICINITY_RETURN_IF_ERROR(FromGrpc(((*stub).*method)(&context, request, &reply)));
  return reply;
}

}  // namespace

absl::StatusOr<proto::StatusReply> AskStatus(const std::string& address, absl::Duration timeout) {
  return Ask(proto::Graph::NewStub(Connect(address)), &proto::Graph::Stub::Status,
             proto::StatusRequest(), timeout);
}

absl::StatusOr<proto::DescribeReply> AskDescribe(const std::string& address,
                                                 absl::Duration timeout) {
  return Ask(proto::Graph::NewStub(Connect(address)), &proto::Graph::Stub::Describe,
             proto::DescribeRequest(), timeout);
}

absl::StatusOr<std::string> AskHealth(const std::string& address, absl::Duration timeout) {
  using grpc::health::v1::Health;
  VICINITY_ASSIGN_OR_RETURN(const auto reply,
                            Ask(Health::NewStub(Connect(address)), &Health::Stub::Check,
                                grpc::health::v1::HealthCheckRequest(), timeout));
  const bool serving = reply.status() == grpc::health::v1::HealthCheckResponse::SERVING;
  return std::string(serving ? "serving" : "not serving");
}

}  // namespace vicinity::cli
