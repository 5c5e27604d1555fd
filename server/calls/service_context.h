// What every call of one of a server's ports has in common.
#pragma once

#include <spdlog/logger.h>

#include "server/admission/call_counters.h"
#include "server/admission/call_gate.h"
#include "server/admission/client_names.h"
#include "server/admission/worker_pool.h"
#include "server/calls/operations.h"
#include "server/calls/server_tracing.h"
#include "server/connections/connection_guard.h"
#include "server/handlers/state_source.h"
#include "server/health/serving_states.h"
#include "server/security/bulk_tickets.h"
#include "server/security/credentials.h"

namespace vicinity {

// Threads:  what it points to may be used by any number at once.
// Lifetime: everything pointed to outlives it.
struct ServiceContext {
  Operations operations;
  const StateSource* states = nullptr;
  CallCounters* counters = nullptr;
  CallGate* gate = nullptr;
  WorkerPool* workers = nullptr;
  ConnectionGuard* guard = nullptr;
  ClientNames* clients = nullptr;
  ServingStates* serving = nullptr;
  const ServerTrust* trust = nullptr;
  spdlog::logger* log = nullptr;
  ServerTracing* tracing = nullptr;  // null: nothing is traced
  BulkTickets* bulk = nullptr;       // null: there is no bulk channel
};

}  // namespace vicinity
