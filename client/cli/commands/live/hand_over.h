// Promotions of several shards of a cluster, over the network: what `vicinity promote` does, and a
// rollout before it restarts a server that writes, and after it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cli/commands/live/promotion.h"
#include "client/cli/flags/servers_flags.h"
#include "proto/admin.pb.h"
#include "proto/cluster/cluster_file.h"
#include "proto/common/ids.h"

namespace vicinity::cli {

// Calls Appoint at the admin addresses of a cluster's servers. One that did not answer is not
// waited for again.
//
// Threads: one.
class AppointCalls {
 public:
  // Targets go by their names; those without an address, or that are not among them, do not answer.
  AppointCalls(const std::vector<ServerTarget>& admins, absl::Duration timeout);

  absl::StatusOr<proto::AppointReply> Call(const std::string& server,
                                           const proto::AppointRequest& request);

 private:
  const absl::Duration timeout_;
  std::map<std::string, ServerTarget> admins_;
  std::map<std::string, absl::Status> gone_;
};

// Shards of a live graph that the server has and others have, too; rising.
std::vector<ShardId> SharedShards(const ClusterFile& cluster, const std::string& server);

struct ShardPromotion {
  ShardId shard;
  Promotion promotion;
};

struct PromotedShards {
  std::vector<ShardPromotion> done;  // but for those that `from` does not write
  absl::Status failed;               // of the others: the first one's code, the texts of all
};

// One after the other, whatever becomes of those before. Of `options`, `servers` are filled in for
// each shard.
PromotedShards PromoteShards(const ClusterFile& cluster, const std::vector<ShardId>& shards,
                             PromotionOptions options, AppointCalls* calls);

}  // namespace vicinity::cli
