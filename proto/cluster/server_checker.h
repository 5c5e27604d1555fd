// Checks the servers of a cluster file: what the text format's grammar cannot say of each, and of
// all of them together.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/cluster.pb.h"
#include "proto/cluster/cluster_lines.h"
#include "proto/cluster/cluster_server.h"
#include "proto/cluster/host_port.h"
#include "proto/common/ids.h"

namespace vicinity {

// Errors:   InvalidArgument with the place in the file, the server and the value.
// Threads:  one.
// Lifetime: `cluster` and `lines` must outlive it.
class ServerChecker {
 public:
  // num_shards is above 0.
  ServerChecker(const proto::Cluster& cluster, const ClusterLines& lines);

  // Every server once, in the file's order.
  absl::StatusOr<ClusterServer> Check(int server);

  // After all of them: whether each shard has a server.
  absl::Status CheckAllServed() const;

 private:
  absl::StatusOr<HostPort> CheckListen(int server) const;
  absl::StatusOr<std::string> CheckAdvertise(int server, const HostPort& listen) const;
  absl::StatusOr<std::vector<ShardId>> CheckShards(int server);
  // Of a field that holds an address or nothing.
  absl::StatusOr<std::string> CheckAddress(int server, const char* field,
                                           const std::string& text) const;
  absl::StatusOr<std::vector<ShardId>> CheckWrites(int server);
  absl::StatusOr<std::string> CheckBulk(int server) const;

  std::string Named(int server) const;  // "server \"a\""
  absl::Status Fault(int line, int server, const absl::Status& why) const;

  const proto::Cluster& cluster_;
  const ClusterLines& lines_;
  std::set<std::string> names_;
  std::vector<int> last_server_of_;  // by shard: its last server so far, -1 if it has none
  std::vector<int> writer_of_;       // by shard: the server that says it writes it, or -1
};

}  // namespace vicinity
