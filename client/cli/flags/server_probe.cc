#include "client/cli/flags/server_probe.h"

#include "client/cli/flags/server_call.h"
#include "proto/common/status.h"
#include "proto/health.grpc.pb.h"
#include "proto/security/certificates.h"
#include "proto/service.grpc.pb.h"

namespace vicinity::cli {

absl::StatusOr<proto::StatusReply> AskStatus(const ServerTarget& server, absl::Duration timeout) {
  return CallServer<proto::Graph>(server, timeout, &proto::Graph::Stub::Status,
                                  proto::StatusRequest());
}

absl::StatusOr<proto::StatusReply> AskStatusAndMetrics(const ServerTarget& server,
                                                       absl::Duration timeout) {
  proto::StatusRequest request;
  request.set_want_metrics(true);
  return CallServer<proto::Graph>(server, timeout, &proto::Graph::Stub::Status, request);
}

absl::StatusOr<proto::DescribeReply> AskDescribe(const ServerTarget& server,
                                                 absl::Duration timeout) {
  return CallServer<proto::Graph>(server, timeout, &proto::Graph::Stub::Describe,
                                  proto::DescribeRequest());
}

absl::StatusOr<HealthAnswer> AskHealth(const ServerTarget& server, absl::Duration timeout) {
  using grpc::health::v1::Health;
  std::string certificate;
  VICINITY_ASSIGN_OR_RETURN(
      const auto reply, CallServer<Health>(server, timeout, &Health::Stub::Check,
                                           grpc::health::v1::HealthCheckRequest(), &certificate));
  const bool serving = reply.status() == grpc::health::v1::HealthCheckResponse::SERVING;
  HealthAnswer answer;
  answer.health = serving ? "serving" : "not serving";
  const absl::StatusOr<absl::Time> expires = ExpiryOf(certificate);
  if (expires.ok()) answer.certificate_expires = *expires;
  return answer;
}

}  // namespace vicinity::cli
