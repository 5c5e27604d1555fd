// The RPCs of proto/service.proto as gRPC serves them. Each is a handler of plain values in a file
// of its own; here they meet the transport.
#pragma once

#include <grpcpp/impl/service_type.h>
#include <spdlog/logger.h>

#include <memory>

#include "server/call_counters.h"
#include "server/server_state.h"

namespace vicinity {

// `state`, `counters` (those that `state` shows) and `log` outlive it. The log gets a line, at
// level debug, for every hello and for every call that fails.
std::unique_ptr<grpc::Service> MakeGraphService(const ServerState* state, CallCounters* counters,
                                                spdlog::logger* log);

}  // namespace vicinity
