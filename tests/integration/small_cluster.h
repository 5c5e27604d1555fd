// A small graph cut into shards and served by real servers in this process, with its cluster file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "partition/dataset.h"
#include "server/limits.h"
#include "server/server.h"
#include "tests/testing/small_graphs.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::testing {

// Ends the test case if it cannot be set up.
class SmallCluster {
 public:
  // `num_shards` shards dealt to `num_servers` servers named "s0", "s1", ...: shard i to server
  // i % num_servers. `prepare`, if any, is given the dataset's directory before they start.
  SmallCluster(MemoryGraph graph, int32_t num_shards, int num_servers,
               const std::function<void(const std::string&)>& prepare = nullptr);

  const std::string& directory() const { return directory_; }
  const std::string& cluster_file() const { return cluster_file_; }
  const MemoryGraph& graph() const { return graph_; }
  const Placement& placement() const { return placement_; }
  const Dataset& dataset() const { return *dataset_; }
  std::string address(int server) const { return addresses_[server]; }

  // Global ids of all nodes of a type, by position.
  std::vector<int64_t> GlobalIds(NodeTypeId type) const;

  void Stop(int server);
  // Starts it again where it was, over `directory` (empty: the cluster's), with these limits.
  void Restart(int server, const std::string& directory = "", const Limits& limits = Limits());

  // Writes a cluster file in which `server` is dialled at `address`, and gives its path.
  std::string ClusterFileWith(int server, const std::string& address) const;

 private:
  void StartServers(int num_servers);
  std::unique_ptr<Server> StartServer(int server, const std::string& directory, int port,
                                      const Limits& limits) const;
  std::string WriteClusterFile(const std::string& name,
                               const std::vector<std::string>& addresses) const;

  const MemoryGraph graph_;
  const Placement placement_;
  const TempDir folder_;
  const std::string directory_;
  std::unique_ptr<Dataset> dataset_;
  int num_servers_ = 0;
  std::vector<std::unique_ptr<Server>> servers_;
  std::vector<std::string> addresses_;
  std::string cluster_file_;
};

}  // namespace vicinity::testing
