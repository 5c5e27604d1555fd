// The RPCs of proto/service.proto as gRPC serves them. Each is a handler of plain values in a file
// of its own; here they meet the transport.
#pragma once

#include <grpcpp/impl/service_type.h>
#include <spdlog/logger.h>

#include <memory>

#include "server/call_counters.h"
#include "server/call_gate.h"
#include "server/credentials.h"
#include "server/server_state.h"

namespace vicinity {

// `state`, `counters` and `gate` (those that `state` shows), `trust`, which says whose limits a
// call counts against, and `log` outlive it. Calls for data pass the gate; Hello, Describe and
// Status do not, and need none of the threads that those take. The log gets a line, at level debug,
// for every hello and for every call that fails.
std::unique_ptr<grpc::Service> MakeGraphService(const ServerState* state, CallCounters* counters,
                                                CallGate* gate, const ServerTrust* trust,
                                                spdlog::logger* log);

}  // namespace vicinity
