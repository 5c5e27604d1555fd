// The keepers of a server: of each shard that other servers have, too, and that is written.
#pragma once

#include <grpcpp/security/credentials.h>
#include <spdlog/logger.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "partition/overlay/live_dataset.h"
#include "partition/overlay/live_values.h"
#include "proto/common/ids.h"
#include "proto/telemetry/registry.h"
#include "server/replication/shard_keeper.h"

namespace vicinity {

// Which servers have a shard besides this one.
struct ShardReplicas {
  struct Server {
    std::string name;
    std::string address;  // host:port
  };
  ShardId shard;
  std::string first;           // who writes it until somebody is promoted
  std::vector<Server> others;  // at least one
};

// As LiveDatasetOptions::servers of server `self`; a shard that is not among them it has alone.
ShardServers ServersOf(const std::vector<ShardReplicas>& shards, const std::string& self,
                       ShardId shard);

// Threads:  any.
// Lifetime: as ShardKeeper.
class Replication {
 public:
  Replication(const std::vector<ShardReplicas>& shards, const std::string& self,
              uint64_t fingerprint, const std::shared_ptr<grpc::ChannelCredentials>& credentials,
              LiveDataset* live, const std::shared_ptr<spdlog::logger>& log);

  void Start();
  void Stop();

  // Null: no other server has it.
  ShardKeeper* Find(ShardId shard) const;
  // How far the others are behind, by shard and server: gauges. It must outlive the group.
  void AddMetrics(MetricRegistry::Group* group) const;

 private:
  std::map<int32_t, std::unique_ptr<ShardKeeper>> keepers_;
};

}  // namespace vicinity
