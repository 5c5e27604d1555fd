// What a server is started with.
#pragma once

#include <spdlog/logger.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "proto/admin.pb.h"
#include "proto/cluster/cluster_file.h"
#include "proto/common/ids.h"
#include "sampler/rules/matching_cache.h"
#include "server/admission/admission_limits.h"
#include "server/bulk/bulk_options.h"
#include "server/calls/server_tracing.h"
#include "server/handlers/limits.h"
#include "server/logging/log_ring.h"
#include "server/logging/log_sink.h"
#include "server/replication/replication.h"
#include "server/security/server_security.h"

namespace vicinity {

struct ServerOptions {
  std::string name = "vicinityd";
  std::string data;
  std::vector<ShardId> shards;         // empty: all
  std::vector<ClusterServer> cluster;  // all servers of the cluster file, for the status page
  int32_t num_shards = 0;              // that the dataset should have; 0: any number
  HostPort listen{"127.0.0.1", 0};
  ServerSecurity security;
  std::optional<HostPort> admin;  // where the admin RPCs listen; none: nowhere
  std::optional<HostPort> http;   // where metrics and the status page are; none: nowhere
  BulkOptions bulk;               // the bulk channel beside `listen`; neither: there is none
  std::function<void()> drain;    // what the admin RPC Drain does: begins it, and returns
  Limits limits;
  AdmissionLimits admission;
  double write_share = 0.5;  // of the work that writes may be while calls for data wait
  int64_t max_connections = 4096;
  int64_t max_host_connections = 0;  // of them, from one address; 0: a quarter, at least 64
  bool behind_proxy = false;         // all come from one address, which never has to wait
  // How long a server that stops says NOT_SERVING before it refuses connections; half of the time
  // for stopping at most.
  absl::Duration announce = absl::Seconds(1);
  // Of a dataset of format version 1; the rest is checked in the background.
  int64_t check_bytes_at_start = int64_t{64} << 20;
  int64_t check_bytes_per_second = int64_t{32} << 20;  // in the background, for ever
  // Where what is written to the shards is kept; empty: they are read-only.
  std::string changes;
  int64_t changes_cache_bytes = int64_t{768} << 20;  // of what is read of it, all shards together
  // Of a live graph, shards that other servers have, too; and what those are to be shown with every
  // call, a token's file, where that takes one.
  std::vector<ShardReplicas> replicas;
  std::string replica_token_file;
  // That are to stay free on its disk: with less, reads go on and writes are refused.
  int64_t changes_least_free_bytes = int64_t{1} << 30;
  // How long a dataset whose place another has taken is kept after it was read last.
  absl::Duration keep_retired = absl::Minutes(30);
  // With less free than this, or than half as much again as changes_least_free_bytes, the log
  // warns; 0: it does not.
  int64_t changes_warn_free_bytes = int64_t{4} << 30;
  int64_t changes_reserve_bytes = int64_t{64} << 20;  // given up when the disk is full; 0: none
  // To remember which edges meet the conditions that draws go by (sampler/rules/matching_cache.h);
  // 0: nothing is.
  int64_t condition_bytes = kDefaultMatchingBytes;
  TracingOptions tracing;
  std::shared_ptr<spdlog::logger> log;  // null: nothing is logged; shared as spdlog does
  std::shared_ptr<const LogSink>
      log_sink;  // what Status tells of it; shared with `log`. May be null
  std::shared_ptr<const LogRing>
      log_ring;  // what the admin RPC Logs tells; shared with `log`. Null: it tells nothing
  std::vector<proto::FlagValue> flags;  // what the admin RPC Config tells
};

}  // namespace vicinity
