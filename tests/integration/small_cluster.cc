#include "tests/integration/small_cluster.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/server_options.h"
#include "tests/testing/status_checks.h"

namespace vicinity::testing {

SmallCluster::SmallCluster(MemoryGraph graph, int32_t num_shards, int num_servers,
                           const std::function<void(const std::string&)>& prepare)
    : graph_(std::move(graph)),
      placement_(Shuffled(graph_, num_shards, 23)),
      directory_(folder_.File("graph")) {
  VICINITY_REQUIRE_OK(WriteGraph(graph_, placement_, directory_));
  if (prepare) prepare(directory_);
  StartServers(num_servers);
}

void SmallCluster::StartServers(int num_servers) {
  VICINITY_ASSERT_OK_AND_ASSIGN(dataset_, Dataset::Open(directory_));
  num_servers_ = num_servers;
  for (int s = 0; s < num_servers; ++s) {
    servers_.push_back(StartServer(s, directory_, 0, Limits()));
    REQUIRE(servers_.back() != nullptr);
    addresses_.push_back(servers_.back()->address().ToString());
  }
  cluster_file_ = WriteClusterFile("cluster.textproto", addresses_);
}

std::unique_ptr<Server> SmallCluster::StartServer(int server, const std::string& directory,
                                                  int port, const Limits& limits) const {
  ServerOptions options;
  options.limits = limits;
  options.name = absl::StrCat("s", server);
  options.data = directory;
  options.listen.port = port;
  for (int32_t shard = server; shard < dataset_->book().num_shards(); shard += num_servers_) {
    options.shards.push_back(ShardId{shard});
  }
  absl::StatusOr<std::unique_ptr<Server>> started = Server::Start(options);
  if (!started.ok()) return nullptr;
  return *std::move(started);
}

void SmallCluster::Stop(int server) { servers_[server]->Stop(absl::ZeroDuration()); }

void SmallCluster::Restart(int server, const std::string& directory, const Limits& limits) {
  const int port = servers_[server]->address().port;
  servers_[server].reset();
  servers_[server] = StartServer(server, directory.empty() ? directory_ : directory, port, limits);
}

std::vector<int64_t> SmallCluster::GlobalIds(NodeTypeId type) const {
  const std::vector<int64_t>& order = placement_.order[type.value];
  std::vector<int64_t> ids(order.size());
  for (size_t global = 0; global < order.size(); ++global) {
    ids[order[global]] = static_cast<int64_t>(global);
  }
  return ids;
}

std::string SmallCluster::ClusterFileWith(int server, const std::string& address) const {
  std::vector<std::string> addresses = addresses_;
  addresses[server] = address;
  return WriteClusterFile(absl::StrCat("cluster_", server, ".textproto"), addresses);
}

std::string SmallCluster::WriteClusterFile(const std::string& name,
                                           const std::vector<std::string>& addresses) const {
  const std::string path = folder_.File(name);
  std::ofstream file(path);
  const int32_t num_shards = dataset_->book().num_shards();
  file << "data: '" << directory_ << "'\nnum_shards: " << num_shards << "\n";
  for (size_t s = 0; s < addresses.size(); ++s) {
    file << "servers {\n  name: 's" << s << "'\n  listen: '" << addresses[s] << "'\n";
    for (int32_t shard = static_cast<int32_t>(s); shard < num_shards;
         shard += static_cast<int32_t>(addresses.size())) {
      file << "  shards: " << shard << "\n";
    }
    file << "}\n";
  }
  return path;
}

}  // namespace vicinity::testing
