// One server as the cluster file describes it.
#pragma once

#include <string>
#include <vector>

#include "proto/cluster/host_port.h"
#include "proto/common/ids.h"

namespace vicinity {

struct ClusterServer {
  std::string name;
  HostPort listen;
  std::string advertise;        // what clients dial; empty: `listen` has port 0 and no one can know
  std::vector<ShardId> shards;  // rising
  std::string admin;            // host:port of the admin RPCs; empty: none
  std::string http;             // host:port of metrics and the status page; empty: none
  std::string changes;          // of a live graph, joined to the file's folder; empty: read-only
  std::vector<ShardId> writes;  // of `shards`, those that it writes first, as the file says
  std::string bulk;             // none, local, auto or host:port; empty: the file does not say
};

}  // namespace vicinity
