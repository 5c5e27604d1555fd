// What every call of one of a server's ports has in common.
#pragma once

#include <spdlog/logger.h>

#include "server/call_counters.h"
#include "server/call_gate.h"
#include "server/client_names.h"
#include "server/connection_guard.h"
#include "server/credentials.h"
#include "server/operations.h"
#include "server/server_state.h"
#include "server/serving_states.h"
#include "server/worker_pool.h"

namespace vicinity {

// Threads:  what it points to may be used by any number at once.
// Lifetime: everything pointed to outlives it.
struct ServiceContext {
  Operations operations;
  const ServerState* state = nullptr;
  CallCounters* counters = nullptr;
  CallGate* gate = nullptr;
  WorkerPool* workers = nullptr;
  ConnectionGuard* guard = nullptr;
  ClientNames* clients = nullptr;
  ServingStates* serving = nullptr;
  const ServerTrust* trust = nullptr;
  spdlog::logger* log = nullptr;
};

}  // namespace vicinity
