// Handlers of Hello and Describe: who serves what.
#pragma once

#include "absl/status/statusor.h"
#include "proto/service.pb.h"
#include "server/handlers/server_state.h"

namespace vicinity {

// FailedPrecondition with both versions if the caller speaks another protocol.
absl::StatusOr<proto::HelloReply> Hello(const ServerState& state,
                                        const proto::HelloRequest& request);

// FailedPrecondition if the caller means another dataset.
absl::StatusOr<proto::DescribeReply> Describe(const ServerState& state,
                                              const proto::DescribeRequest& request);

}  // namespace vicinity
