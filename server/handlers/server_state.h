// What the handlers see of their server.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "partition/dataset/dataset.h"
#include "partition/overlay/live_dataset.h"
#include "proto/security/certificates.h"
#include "proto/telemetry/registry.h"
#include "sampler/relations/nonempty_cache.h"
#include "sampler/rules/matching_cache.h"
#include "server/admission/call_counters.h"
#include "server/admission/call_gate.h"
#include "server/connections/connection_acceptor.h"
#include "server/handlers/limits.h"
#include "server/health/serving_states.h"
#include "server/health/shard_health.h"
#include "server/logging/log_sink.h"
#include "server/replication/replication.h"

namespace vicinity {

struct AdminState;

enum class DatasetStage : uint8_t {
  kPrepared,  // to take the place of the one in force: it is read, and takes what is carried over
  kInForce,
  kRetired,  // another has taken its place: it is read, by those who have it open
};

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
  const MetricRegistry* metrics = nullptr;    // null: none are shown
  ConnectionAcceptor* connections = nullptr;  // null: not counted
  const LogSink* log_sink = nullptr;          // null: not counted
  std::function<TlsState()> tls;              // null: plaintext
  const ServingStates* serving = nullptr;     // null: the health service knows nothing
  AdminState* admin = nullptr;                // null: not of the admin port
  // Set some time before it refuses calls. Null: it never does.
  const std::atomic<bool>* stopping = nullptr;
  const LiveDataset* live = nullptr;         // null: all shards are read-only
  const Replication* replication = nullptr;  // null: no shard is also on other servers
  MatchingCache* matching = nullptr;         // null: conditions are looked at list by list
  NonemptyCache* nonempty = nullptr;         // null: of each list it is looked whether it is empty

  // What this dataset is to the server. Null: the one in force, for as long as it runs.
  const std::atomic<DatasetStage>* stage = nullptr;
  uint64_t follows = 0;  // the dataset whose place it took; 0: it is the first
  // Those that are answered beside it.
  std::function<std::vector<uint64_t>()> also{};
  bool has_bulk = false;  // the server has a bulk channel

  bool IsStopping() const { return stopping != nullptr && *stopping; }
};

}  // namespace vicinity
