#include "client/cli/commands/live/hand_over.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/flags/server_call.h"
#include "proto/admin.grpc.pb.h"

namespace vicinity::cli {
namespace {

std::vector<std::string> NamesOf(const ClusterFile& cluster, ShardId shard) {
  std::vector<std::string> names;
  for (const int server : cluster.ServersOf(shard)) names.push_back(cluster.servers[server].name);
  return names;
}

}  // namespace

AppointCalls::AppointCalls(const std::vector<ServerTarget>& admins, absl::Duration timeout)
    : timeout_(timeout) {
  for (const ServerTarget& admin : admins) {
    if (!admin.address.empty()) admins_.emplace(admin.name, admin);
  }
}

absl::StatusOr<proto::AppointReply> AppointCalls::Call(const std::string& server,
                                                       const proto::AppointRequest& request) {
  const auto admin = admins_.find(server);
  if (admin == admins_.end()) {
    return absl::UnavailableError("the cluster file says no `admin` address of it");
  }
  if (const auto gone = gone_.find(server); gone != gone_.end()) return gone->second;
  auto reply =
      CallServer<proto::Admin>(admin->second, timeout_, &proto::Admin::Stub::Appoint, request);
  if (absl::IsUnavailable(reply.status()) || absl::IsDeadlineExceeded(reply.status())) {
    gone_.emplace(server, reply.status());
  }
  return reply;
}

std::vector<ShardId> SharedShards(const ClusterFile& cluster, const std::string& server) {
  std::vector<ShardId> shards;
  if (cluster.changes.empty()) return shards;
  for (int32_t shard = 0; shard < cluster.num_shards; ++shard) {
    const std::vector<std::string> names = NamesOf(cluster, ShardId{shard});
    const bool has = std::find(names.begin(), names.end(), server) != names.end();
    if (has && names.size() > 1) shards.push_back(ShardId{shard});
  }
  return shards;
}

PromotedShards PromoteShards(const ClusterFile& cluster, const std::vector<ShardId>& shards,
                             PromotionOptions options, AppointCalls* calls) {
  PromotedShards promoted;
  std::string failures;
  for (const ShardId shard : shards) {
    options.servers = NamesOf(cluster, shard);
    auto promotion =
        Promote(shard, options, [&](size_t server, const proto::AppointRequest& request) {
          return calls->Call(options.servers[server], request);
        });
    if (!promotion.ok()) {
      promoted.failed.Update(promotion.status());
      absl::StrAppend(&failures, failures.empty() ? "" : "; ",
                      std::string(promotion.status().message()));
    } else if (promotion->concerned) {
      promoted.done.push_back({shard, *std::move(promotion)});
    }
  }
  if (!promoted.failed.ok()) promoted.failed = absl::Status(promoted.failed.code(), failures);
  return promoted;
}

}  // namespace vicinity::cli
