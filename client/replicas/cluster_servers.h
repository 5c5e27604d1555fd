// The servers of a cluster as a client has them: which are there, of which dataset they are, and
// how those that are not come back.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/replicas/replica_server.h"
#include "client/rpc/server_connection.h"
#include "client/shards/cancellation.h"
#include "client/shards/fan_out.h"
#include "proto/common/ids.h"
#include "proto/common/mutex.h"
#include "proto/service.pb.h"

namespace vicinity {

struct ServerToReach {
  ServerEndpoint endpoint;
  ConnectionOptions options;
};

// A dataset that a client has already, and how it is called in errors.
struct KnownDataset {
  uint64_t fingerprint = 0;
  std::string whose;
};

// Threads:  as each method says.
// Lifetime: what `tools` points to must outlive it. Its destructor ends what is under way and waits
//           for that; calls must be over.
class ClusterServers {
 public:
  // Begins to connect to all of them; none is live yet. At least one, each with a shard.
  ClusterServers(std::vector<ServerToReach> servers, const ReplicaTools& tools);
  ~ClusterServers();

  // Decides which dataset is read: `known`, else the one of which the servers that answer hold
  // every shard. Servers that are of it are live from then on; others are asked again in the
  // background, and used once they are of it. Waits no longer than the connect timeout for a
  // server, and, once there is a replica of every shard, hardly for the rest. Its fingerprint.
  //
  // Errors: where a shard has no replica, that of its servers: Unavailable for those that cannot be
  // reached, FailedPrecondition with both fingerprints, NotFound for a server without the shard.
  // FailedPrecondition also for servers that hold two datasets whole, so that either could be
  // meant. One thread, once.
  absl::StatusOr<uint64_t> ChooseDataset(const std::optional<KnownDataset>& known);

  // Asks a live server for schema and book. After ChooseDataset.
  absl::Status Describe(proto::DescribeReply* reply);

  int size() const { return static_cast<int>(servers_.size()); }
  // Any thread.
  ServerConnection* connection(int i) const { return servers_[i]->connection.get(); }
  ReplicaServer* replica(int i) const { return servers_[i]->replica.get(); }

 private:
  struct Server {
    std::unique_ptr<ServerConnection> connection;
    std::unique_ptr<ReplicaServer> replica;  // last: its probe uses all above
  };
  // A server's last answer to a hello.
  struct Answer {
    bool asked = false;  // it, or an error, has come
    bool connected = false;
    absl::Status error;
    uint64_t fingerprint = 0;
    uint64_t follows = 0;     // the dataset whose place that one took
    std::set<uint64_t> also;  // others that it answers
    bool live = false;
    std::set<int32_t> shards;
    Done probe;  // that waits for the choice
  };

  bool IsConnected(int server) const;
  void SetConnected(int server, bool connected);
  // Connects, or, if the server is connected, says hello again. One probe of a server at a time.
  void Probe(int server, Cancellation* cancel, Done done);
  void OnHello(int server, const absl::Status& status, const proto::HelloReply& hello, Done done);
  absl::StatusOr<KnownDataset> WaitForChoice(const std::optional<KnownDataset>& known);

  // What keeps a server from being used for the dataset.
  absl::Status CheckServer(int server, const KnownDataset& dataset) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The same of the dataset that is read, which its replica is told if it is gone for good.
  absl::Status Judge(int server, const KnownDataset& dataset) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsWhole(const KnownDataset& dataset) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::vector<KnownDataset> Candidates() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Whether another has taken its place, on some server.
  bool IsFollowed(const KnownDataset& dataset) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Whether one has there, and it is not answered any more.
  static bool IsReplaced(const Answer& answer, const KnownDataset& dataset);
  bool AllAsked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status WhyNone(const std::optional<KnownDataset>& known) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  const ServerEndpoint& endpoint(int i) const { return servers_[i]->connection->endpoint(); }

  std::chrono::milliseconds connect_timeout_{0};  // the longest
  std::set<int32_t> shards_;                      // of all servers

  mutable Mutex mu_;
  CondVar changed_;
  std::optional<KnownDataset> chosen_ ABSL_GUARDED_BY(mu_);
  bool closing_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<Answer> answers_ ABSL_GUARDED_BY(mu_);  // by server

  std::vector<std::unique_ptr<Server>> servers_;  // last: their probes use all above
};

}  // namespace vicinity
