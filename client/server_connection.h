// The connections to one server: several channels, each its own TCP connection, each checked by a
// hello before anything else is asked of it.
#pragma once

#include <grpcpp/channel.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/cancellation.h"
#include "client/fan_out.h"
#include "client/hop_pieces.h"
#include "client/rpc_call.h"
#include "client/traffic.h"
#include "proto/common/ids.h"
#include "proto/service.grpc.pb.h"

namespace vicinity {

// Who to call.
struct ServerEndpoint {
  std::string name;
  std::string address;          // host:port
  std::vector<ShardId> shards;  // that it is to serve
};

struct ConnectionOptions {
  std::chrono::milliseconds connect_timeout{5000};
  std::chrono::milliseconds call_timeout{5000};
  int channels = 2;
  std::string client_name;
};

// Threads:  any number, after Connect is done; Connect once.
// Lifetime: `traffic` must outlive it; calls must be over before it goes.
class ServerConnection {
 public:
  ServerConnection(ServerEndpoint endpoint, const ConnectionOptions& options,
                   TrafficCounters* traffic);

  const ServerEndpoint& endpoint() const { return endpoint_; }
  int num_channels() const { return static_cast<int>(channels_.size()); }

  // Says hello on every channel, trying to connect until connect_timeout. Unavailable if the server
  // cannot be reached, FailedPrecondition if it speaks another protocol version, both named;
  // Internal if its limits allow nothing.
  void Connect(Done done);

  // The server's answer to hello, once Connect is done.
  const proto::HelloReply& hello() const { return hellos_.front(); }
  const RequestLimits& limits() const { return limits_; }

  // Asks for schema and book. Waits for the answer.
  absl::Status Describe(proto::DescribeReply* reply);

  // For one call: the next channel in turn, if it can those with a connection first, and its
  // settings. `shard` is named in errors.
  proto::Graph::Stub* NextStub();
  CallSettings Settings(ShardId shard, const char* method, Cancellation* cancel) const;
  TrafficCounters* traffic() const { return traffic_; }

 private:
  void SayHello(size_t channel, Done done);
  // What is wrong with an answer, and with all of them together.
  absl::Status CheckHello(const proto::HelloReply& reply) const;
  absl::Status CheckHellos();

  const ServerEndpoint endpoint_;
  const std::string whole_;  // "shards 2, 3 at 127.0.0.1:7502 (server c)"
  const ConnectionOptions options_;
  TrafficCounters* const traffic_;
  std::vector<std::shared_ptr<grpc::Channel>> channels_;
  std::vector<std::unique_ptr<proto::Graph::Stub>> stubs_;
  std::vector<proto::HelloReply> hellos_;  // by channel
  RequestLimits limits_;
  std::atomic<uint32_t> next_{0};
};

}  // namespace vicinity
