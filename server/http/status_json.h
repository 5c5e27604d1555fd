// What the status page shows, as JSON.
#pragma once

#include <string>
#include <vector>

#include "proto/cluster/cluster_server.h"
#include "proto/service.pb.h"
#include "proto/telemetry/registry.h"
#include "server/http/peer_watch.h"

namespace vicinity {

// The cluster as one of its servers sees it.
struct ClusterView {
  std::vector<ClusterServer> servers;  // of the cluster file; empty: there is none
  std::vector<PeerWatch::Peer> peers;  // one each
};

// The reply of the RPC Status, with what the metrics tell beside it: times of calls by method, and
// versions and memory of shards that are written. For the page alone: it changes with the page.
std::string StatusJson(const proto::StatusReply& status,
                       const std::vector<MetricRegistry::Family>& metrics,
                       const ClusterView& cluster);

}  // namespace vicinity
