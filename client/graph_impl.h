// What is behind a Graph: the shards' accesses, and what they need to live.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/graph.h"
#include "client/server_connection.h"
#include "client/shard_router.h"
#include "client/traffic.h"
#include "partition/book.h"
#include "partition/cluster_file.h"
#include "partition/dataset.h"
#include "partition/schema.h"

namespace vicinity {

// Threads: immutable after Open; any number may use it.
class GraphImpl {
 public:
  // Errors as Graph::Open.
  static absl::StatusOr<std::unique_ptr<GraphImpl>> Open(const GraphOptions& options);

  const ShardRouter& router() const { return *router_; }
  const std::string& name() const { return name_; }
  uint64_t fingerprint() const { return fingerprint_; }
  TrafficStats traffic() const { return traffic_.Read(); }

  // FailedPrecondition in a child forked after Open: gRPC's threads and locks are not there, so
  // a call would hang.
  absl::Status CheckProcess() const;

 private:
  GraphImpl() = default;
  absl::Status OpenDirectory(const GraphOptions& options);
  absl::Status OpenCluster(const GraphOptions& options);
  absl::Status Connect(const ClusterFile& cluster, const GraphOptions& options);
  // Checks that all servers and the mapped files are one dataset, and that each shard is there.
  absl::Status CheckOneDataset(const ClusterFile& cluster) const;
  absl::Status MakeRouter(const ClusterFile& cluster);

  // Later members use earlier ones.
  pid_t pid_ = 0;
  TrafficCounters traffic_;
  std::unique_ptr<Dataset> dataset_;  // the mapped shards; null: none
  std::vector<std::unique_ptr<ServerConnection>> connections_;
  std::string name_;
  uint64_t fingerprint_ = 0;
  std::unique_ptr<const Schema> schema_;
  std::unique_ptr<const Book> book_;
  std::unique_ptr<ShardRouter> router_;
};

}  // namespace vicinity
