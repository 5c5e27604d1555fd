#include "proto/cluster/cluster_file.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/cluster.pb.h"
#include "proto/cluster/cluster_lines.h"
#include "proto/cluster/server_checker.h"
#include "proto/cluster/text_proto.h"
#include "proto/common/file.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr int32_t kMaxShards = 1 << 20;

// A path of the file, counted from the folder that the file is in.
std::string Beside(const ClusterLines& lines, const std::string& path) {
  if (path.empty()) return path;
  return (std::filesystem::path(lines.path()).parent_path() / path).string();
}

absl::StatusOr<std::vector<ClusterServer>> CheckServers(const proto::Cluster& cluster,
                                                        const ClusterLines& lines) {
  if (cluster.servers().empty()) return lines.Fault(ClusterLines::kNoLine, "there are no servers");
  ServerChecker checker(cluster, lines);
  std::vector<ClusterServer> servers;
  for (int i = 0; i < cluster.servers_size(); ++i) {
    VICINITY_ASSIGN_OR_RETURN(ClusterServer server, checker.Check(i));
    servers.push_back(std::move(server));
  }
  VICINITY_RETURN_IF_ERROR(checker.CheckAllServed());
  return servers;
}

absl::StatusOr<ClusterTls> CheckTls(const proto::Cluster& cluster, const ClusterLines& lines) {
  ClusterTls tls;
  if (!cluster.has_tls()) return tls;
  const proto::Tls& stored = cluster.tls();
  if (stored.certificate().empty() || stored.ca().empty()) {
    return lines.Fault(lines.OfField("tls"), "`tls` needs certificate and ca");
  }
  tls.certificate = Beside(lines, stored.certificate());
  tls.key = Beside(lines, stored.key());
  tls.ca = Beside(lines, stored.ca());
  tls.revoked = Beside(lines, stored.revoked());
  return tls;
}

// Of a live graph, servers that have a shard call each other.
absl::Status CheckReplicas(const ClusterFile& file, const ClusterLines& lines) {
  for (int32_t s = 0; s < file.num_shards; ++s) {
    const std::vector<int> servers = file.ServersOf(ShardId{s});
    if (servers.size() <= 1) continue;
    for (const int server : servers) {
      if (!file.servers[server].advertise.empty()) continue;
      return lines.Fault(lines.OfServerField(server, "listen"),
                         absl::StrCat("server \"", file.servers[server].name,
                                      "\" picks a port, and other servers "
                                      "of shard ",
                                      s, " have to know it: give `listen` one, or `advertise`"));
    }
  }
  return absl::OkStatus();
}

// Where each keeps changes, if the graph is live.
absl::Status TakeChanges(const proto::Cluster& cluster, const ClusterLines& lines,
                         ClusterFile* file) {
  file->changes = Beside(lines, cluster.changes());
  for (size_t i = 0; i < file->servers.size(); ++i) {
    const int server = static_cast<int>(i);
    const std::string own = Beside(lines, cluster.servers(server).changes());
    file->servers[i].changes = own.empty() ? file->changes : own;
    if (own.empty() || !file->changes.empty()) continue;
    return lines.Fault(
        lines.OfServerField(server, "changes"),
        absl::StrCat("server \"", file->servers[i].name,
                     "\" has `changes`, and the file itself has none: a graph is live "
                     "on all its servers or on none"));
  }
  return absl::OkStatus();
}

// What the text format's grammar cannot check.
absl::StatusOr<ClusterFile> Check(const proto::Cluster& cluster, const ClusterLines& lines) {
  ClusterFile file;
  file.path = lines.path();
  file.num_shards = cluster.num_shards();
  if (cluster.data().empty()) {
    return lines.Fault(ClusterLines::kNoLine, "`data`, the dataset directory, is missing");
  }
  file.data = Beside(lines, cluster.data());
  if (file.num_shards < 1 || file.num_shards > kMaxShards) {
    return lines.Fault(
        lines.OfField("num_shards"),
        absl::StrCat("num_shards is ", file.num_shards, ", should be from 1 to ", kMaxShards));
  }
  VICINITY_ASSIGN_OR_RETURN(file.servers, CheckServers(cluster, lines));
  VICINITY_ASSIGN_OR_RETURN(file.tls, CheckTls(cluster, lines));
  file.access = Beside(lines, cluster.access());
  file.open = cluster.open();
  VICINITY_RETURN_IF_ERROR(TakeChanges(cluster, lines, &file));
  if (!file.changes.empty()) VICINITY_RETURN_IF_ERROR(CheckReplicas(file, lines));
  return file;
}

}  // namespace

const ClusterServer* ClusterFile::FindServer(absl::string_view name) const {
  for (const ClusterServer& server : servers) {
    if (server.name == name) return &server;
  }
  return nullptr;
}

std::vector<int> ClusterFile::ServersOf(ShardId shard) const {
  std::vector<int> found;
  for (size_t i = 0; i < servers.size(); ++i) {
    const std::vector<ShardId>& shards = servers[i].shards;
    if (std::find(shards.begin(), shards.end(), shard) != shards.end()) {
      found.push_back(static_cast<int>(i));
    }
  }
  return found;
}

int ClusterFile::FirstWriterOf(ShardId shard) const {
  const std::vector<int> all = ServersOf(shard);
  for (const int server : all) {
    const std::vector<ShardId>& writes = servers[server].writes;
    if (std::find(writes.begin(), writes.end(), shard) != writes.end()) return server;
  }
  return all.empty() ? -1 : all.front();
}

absl::StatusOr<ClusterFile> ReadClusterFile(const std::string& path) {
  VICINITY_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseClusterFile(path, text);
}

absl::StatusOr<ClusterFile> ParseClusterFile(const std::string& path, absl::string_view text) {
  proto::Cluster cluster;
  VICINITY_RETURN_IF_ERROR(ParseTextProto(path, std::string(text), &cluster));
  return Check(cluster, ClusterLines(path, text));
}

}  // namespace vicinity
