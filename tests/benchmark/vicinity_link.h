// A server of a dataset in a process of its own, and the client library's connection to its shard.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "client/rpc/server_connection.h"
#include "client/shards/shard_access.h"
#include "client/shards/traffic.h"
#include "client/types/graph_values.h"
#include "partition/dataset/dataset.h"
#include "proto/bulk.pb.h"
#include "proto/security/certificates.h"
#include "tests/benchmark/baselines/other_process.h"

namespace vicinity::benchmark {

// How calls go to a server.
struct CallWay {
  Transport transport = Transport::kGrpc;
  proto::BulkSocket over = proto::BULK_SOCKET_ANY;
};
inline constexpr CallWay kByGrpc = {};
inline constexpr CallWay kByBulkTcp = {Transport::kBulk, proto::BULK_SOCKET_TCP};
inline constexpr CallWay kByBulkUnix = {Transport::kBulk, proto::BULK_SOCKET_UNIX};

// Serves all of `directory`, over gRPC and the bulk channel, with replies of `chunk_bytes`;
// encrypted if `tls` has a certificate. What is written goes to `changes`; empty: read-only. The
// channel is at one kind of socket, or both, which leaves the choice to clients.
std::unique_ptr<OtherProcess> StartVicinity(const std::string& directory, int64_t chunk_bytes,
                                            const TlsFiles& tls = {},
                                            const std::string& changes = "",
                                            proto::BulkSocket bulk = proto::BULK_SOCKET_ANY);

// Serves the textbook service over shard 0 of `directory`.
std::unique_ptr<OtherProcess> StartPlain(const std::string& directory, int64_t chunk_bytes);

// Shard 0 behind a server, as a trainer sees it; encrypted if `tls` has an authority. Exits 1,
// saying why, if it cannot be reached.
class VicinityLink {
 public:
  VicinityLink(int port, const Dataset& dataset, proto::Precision precision,
               const TlsFiles& tls = {}, const CallWay& way = kByGrpc);
  ShardAccess* shard() { return shard_.get(); }

 private:
  TrafficCounters traffic_;
  std::unique_ptr<ServerConnection> connection_;
  std::unique_ptr<ShardAccess> shard_;
};

// A dataset of one shard, opened without reading it. Exits 1, saying why, if it cannot be.
std::unique_ptr<Dataset> OpenOneShard(const std::string& directory);

// Exits 1 if there is an error.
void Check(const absl::Status& status);

}  // namespace vicinity::benchmark
