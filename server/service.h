// The RPCs of proto/service.proto as gRPC serves them. Each is a handler of plain values in a file
// of its own; here they meet the transport.
#pragma once

#include <spdlog/logger.h>

#include <memory>

#include "proto/service.grpc.pb.h"
#include "server/call_counters.h"
#include "server/server_state.h"

namespace vicinity {

// `state`, `counters` (those that `state` shows) and `log` outlive it. The log gets a line, at
// level debug, for every hello and for every call that fails.
std::unique_ptr<proto::Graph::Service> MakeGraphService(const ServerState* state,
                                                        CallCounters* counters,
                                                        spdlog::logger* log);

}  // namespace vicinity
