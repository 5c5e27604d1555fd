#include "client/cli/server_probe.h"

#include "client/cli/server_call.h"
#include "proto/common/status.h"
#include "proto/health.grpc.pb.h"
#include "proto/service.grpc.pb.h"

namespace vicinity::cli {

absl::StatusOr<proto::StatusReply> AskStatus(const ServerTarget& server, absl::Duration timeout) {
  return CallServer<proto::Graph>(server, timeout, &proto::Graph::Stub::Status,
                                  proto::StatusRequest());
}

absl::StatusOr<proto::DescribeReply> AskDescribe(const ServerTarget& server,
                                                 absl::Duration timeout) {
  return CallServer<proto::Graph>(server, timeout, &proto::Graph::Stub::Describe,
                                  proto::DescribeRequest());
}

absl::StatusOr<std::string> AskHealth(const ServerTarget& server, absl::Duration timeout) {
  using grpc::health::v1::Health;
  VICINITY_ASSIGN_OR_RETURN(const auto reply,
                            CallServer<Health>(server, timeout, &Health::Stub::Check,
                                               grpc::health::v1::HealthCheckRequest()));
  const bool serving = reply.status() == grpc::health::v1::HealthCheckResponse::SERVING;
  return std::string(serving ? "serving" : "not serving");
}

}  // namespace vicinity::cli
