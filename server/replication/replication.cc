#include "server/replication/replication.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/telemetry/metric.h"
#include "server/replication/other_server.h"

namespace vicinity {

ShardServers ServersOf(const std::vector<ShardReplicas>& shards, const std::string& self,
                       ShardId shard) {
  for (const ShardReplicas& each : shards) {
    if (each.shard == shard) return {self, each.first, static_cast<int>(each.others.size()) + 1};
  }
  return {};
}

Replication::Replication(const std::vector<ShardReplicas>& shards, const std::string& self,
                         uint64_t fingerprint,
                         const std::shared_ptr<grpc::ChannelCredentials>& credentials,
                         LiveDataset* live, const std::shared_ptr<spdlog::logger>& log) {
  for (const ShardReplicas& each : shards) {
    ShardKeeper::Options options;
    options.shard = each.shard;
    options.self = self;
    options.fingerprint = fingerprint;
    for (const ShardReplicas::Server& other : each.others) {
      options.others.push_back(ConnectToServer(other.name, other.address, credentials));
    }
    keepers_.emplace(each.shard.value,
                     std::make_unique<ShardKeeper>(live, std::move(options), log));
  }
}

void Replication::Start() {
  for (const auto& [id, keeper] : keepers_) keeper->Start();
}

void Replication::Stop() {
  for (const auto& [id, keeper] : keepers_) keeper->Stop();
}

ShardKeeper* Replication::Find(ShardId shard) const {
  const auto found = keepers_.find(shard.value);
  return found == keepers_.end() ? nullptr : found->second.get();
}

void Replication::AddMetrics(MetricRegistry::Group* group) const {
  for (const auto& [id, keeper] : keepers_) {
    for (size_t other = 0; other < keeper->num_others(); ++other) {
      group->Add(
          {"vicinity_server_replica_behind_versions",
           "Batches of changes that another server lacks of a shard which this one writes; "
           "-1: it is not known",
           MetricKind::kGauge},
          {{"server", keeper->other_name(other)}, {"shard", absl::StrCat(id)}},
          [keeper = keeper.get(), other] { return static_cast<double>(keeper->Behind(other)); });
    }
  }
}

}  // namespace vicinity
