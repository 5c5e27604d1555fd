// Handler of the health service's Check; Watch is server/health_watch.
#pragma once

#include "absl/status/statusor.h"
#include "proto/health.pb.h"
#include "server/handlers/server_state.h"

namespace vicinity {

inline constexpr char kCheckPath[] = "/grpc.health.v1.Health/Check";

// NotFound for a service that nobody has said anything of, as the protocol has it.
absl::StatusOr<grpc::health::v1::HealthCheckResponse> CheckHealth(
    const ServerState& state, const grpc::health::v1::HealthCheckRequest& request);

}  // namespace vicinity
