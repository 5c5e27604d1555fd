// What a server as a whole tells beside its parts: whether it serves, its connections, its
// certificate, its log, its place in the cluster, the disk of its changes.
#pragma once

#include <vector>

#include "proto/cluster/cluster_server.h"
#include "proto/telemetry/registry.h"
#include "server/handlers/server_state.h"

namespace vicinity {

// Of a state that is complete. `cluster`: the servers of the cluster file, of which it is counted
// how many replicas the shards that are served here should have; empty: there is no cluster file.
// Lifetime: state and all that it points to outlive the group.
void AddServerMetrics(const ServerState& state, const std::vector<ClusterServer>& cluster,
                      MetricRegistry::Group* group);

}  // namespace vicinity
