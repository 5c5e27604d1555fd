// What the handlers see of their server.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>

#include "partition/dataset.h"
#include "proto/security/certificates.h"
#include "server/call_counters.h"
#include "server/call_gate.h"
#include "server/connection_acceptor.h"
#include "server/limits.h"
#include "server/log_sink.h"
#include "server/serving_states.h"
#include "server/shard_health.h"

namespace vicinity {

struct AdminState;

// Threads:  immutable, and what it points to may be used by any number at once.
// Lifetime: everything pointed to outlives it.
struct ServerState {
  std::string name;
  const Dataset* dataset = nullptr;
  Limits limits;
  std::chrono::steady_clock::time_point started;
  const ShardHealth* health = nullptr;
  const CallCounters* counters = nullptr;
  const CallGate* gate = nullptr;
  ConnectionAcceptor* connections = nullptr;  // null: not counted
  const LogSink* log_sink = nullptr;          // null: not counted
  std::function<TlsState()> tls;              // null: plaintext
  const ServingStates* serving = nullptr;     // null: the health service knows nothing
  AdminState* admin = nullptr;                // null: not of the admin port
  // Set some time before it refuses calls. Null: it never does.
  const std::atomic<bool>* stopping = nullptr;

  bool IsStopping() const { return stopping != nullptr && *stopping; }
};

}  // namespace vicinity
