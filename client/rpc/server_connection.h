// The connections to one server: several channels, each its own TCP connection, each checked by a
// hello before anything else is asked of it.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/security/credentials.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "client/rpc/bulk_link.h"
#include "client/rpc/call_queue.h"
#include "client/rpc/hop_pieces.h"
#include "client/rpc/rpc_call.h"
#include "client/shards/call_context.h"
#include "client/shards/cancellation.h"
#include "client/shards/fan_out.h"
#include "client/shards/traffic.h"
#include "client/types/graph_values.h"
#include "proto/bulk.pb.h"
#include "proto/bulk_fields.h"
#include "proto/common/ids.h"
#include "proto/common/mutex.h"
#include "proto/security/tls_sessions.h"
#include "proto/service.pb.h"

namespace vicinity {

// Who to call.
struct ServerEndpoint {
  std::string name;
  std::string address;          // host:port
  std::vector<ShardId> shards;  // that it is to serve
  bool live = false;            // and they are to take changes
};

struct ConnectionOptions {
  std::chrono::milliseconds connect_timeout{5000};
  std::chrono::milliseconds call_timeout{5000};
  // While calls are under way a connection that says nothing for so long is asked whether it lives,
  // and given up when it has not answered for as long again as the second says.
  std::chrono::milliseconds keepalive_time{30'000};
  std::chrono::milliseconds keepalive_timeout{10'000};
  int channels = 2;
  proto::Precision precision = proto::PRECISION_STORED;  // that float32 columns are asked for in
  // Over which the calls of Settings() go. The bulk channel has twice as many connections as there
  // are channels, 16 at most.
  Transport transport = Transport::kAuto;
  proto::BulkSocket bulk_over = proto::BULK_SOCKET_ANY;
  std::string client_name;
  std::shared_ptr<grpc::ChannelCredentials> credentials;  // null: plaintext; shared by channels
  std::shared_ptr<TlsSessions> tls_sessions;  // of the bulk channel, as the credentials; likewise
};

// Answers are read in threads of its own. A channel whose call gets no part of an answer until its
// deadline is replaced, for its connection may be out of step: such a one says nothing for as long
// as keep-alive lets it, 40 s.
//
// Threads:  any number, after Connect has succeeded; Connect until then, one at a time.
// Lifetime: `traffic` must outlive it; calls must be over before it goes, and the last of them may
//           not be what lets it go.
class ServerConnection {
 public:
  ServerConnection(ServerEndpoint endpoint, const ConnectionOptions& options,
                   TrafficCounters* traffic);
  ~ServerConnection();

  const ServerEndpoint& endpoint() const { return endpoint_; }
  int num_channels() const { return num_channels_; }
  std::chrono::milliseconds call_timeout() const { return options_.call_timeout; }
  // Before any call: what is to happen when the server says that it is about to stop. Called from
  // threads that read answers, often.
  void WhenStopping(std::function<void()> tell) { when_stopping_ = std::move(tell); }
  proto::Precision precision() const { return options_.precision; }

  // Says hello on every channel, trying to connect until connect_timeout, and then begins to open
  // the bulk channel, if the server has one; with Transport::kBulk it waits until that is open.
  // Unavailable if the server cannot be reached, FailedPrecondition if it speaks another protocol
  // version, both named; Internal if its limits allow nothing; with Transport::kBulk
  // FailedPrecondition if it has no bulk channel, and what BulkLink::Open says.
  void Connect(Cancellation* cancel, Done done);

  // One more hello, on the next channel in turn, trying to connect until `timeout`. After it, if it
  // succeeds, limits() are the server's as it is now.
  void AskHello(Cancellation* cancel, std::chrono::milliseconds timeout,
                std::function<void(const absl::Status&, const proto::HelloReply&)> on_end);

  // The server's answer to hello, once Connect is done.
  const proto::HelloReply& hello() const { return hellos_.front(); }
  // As the server's last hello has them: who takes its place at its address may have others.
  RequestLimits limits() const;

  // Asks for schema and book of a dataset. Waits for the answer.
  absl::Status Describe(uint64_t fingerprint, proto::DescribeReply* reply);

  // Of one call; `shard` is named in errors.
  CallSettings Settings(ShardId shard, const char* method, const CallContext& context) const;

  // Makes a call as StartCall does: over the bulk channel, if it may and there is one; else on a
  // channel of its lane, if that has a connection, else on any that has one.
  template <typename Reply, typename Request>
  void Start(Request request, const CallSettings& settings,
             std::function<absl::Status(const Reply&, const SlicedMessage&)> on_reply, Done done) {
    const CallRoute route = NextRoute(settings);
    traffic_->CountCall(BulkBytes(request));
    StartCall<Reply>(route, std::move(request), Watched(settings, route),
                     Counted<Reply>(route, std::move(on_reply)), std::move(done));
  }
  // As StartSingleCall does.
  template <typename Reply, typename Request>
  void StartSingle(Request request, const CallSettings& settings,
                   std::function<absl::Status(const Reply&, const SlicedMessage&)> on_reply,
                   Done done) {
    const CallRoute route = NextRoute(settings);
    traffic_->CountCall(BulkBytes(request));
    StartSingleCall<Reply>(route, std::move(request), Watched(settings, route),
                           Counted<Reply>(route, std::move(on_reply)), std::move(done));
  }

  TrafficCounters* traffic() const { return traffic_; }
  // Connections of the bulk channel on which a call may be made now.
  int num_bulk() const { return bulk_ == nullptr ? 0 : bulk_->num_open(); }

 private:
  // Counts which way a call goes; with the result what comes of it is counted, too.
  template <typename Reply>
  std::function<absl::Status(const Reply&, const SlicedMessage&)> Counted(
      const CallRoute& route,
      std::function<absl::Status(const Reply&, const SlicedMessage&)> on_reply) {
    if (route.bulk == nullptr) return on_reply;
    Counter* const received = traffic_->CountBulkCall(route.bulk->over_unix());
    return [received, on_reply = std::move(on_reply)](const Reply& reply,
                                                      const SlicedMessage& message) {
      const absl::Status status = on_reply(reply, message);
      if (status.ok()) received->Add(message.BulkBytes());
      return status;
    };
  }

  CallRoute NextRoute(const CallSettings& settings);
  CallRoute NextChannel(CallLane lane, uint32_t turn);
  // With what is to happen when the route's channel keeps silent.
  CallSettings Watched(CallSettings settings, const CallRoute& route);
  void Replace(const grpc::Channel* channel);
  std::shared_ptr<grpc::Channel> ChannelAt(size_t position) const;
  void SayHello(size_t channel, Cancellation* cancel, Done done);
  bool AnyReady() const;
  absl::Status NoConnection(std::chrono::milliseconds timeout) const;
  // What is wrong with an answer, and with all of them together.
  absl::Status CheckHello(const proto::HelloReply& reply) const;
  absl::Status CheckHellos();
  void TakeLimits(const proto::Limits& limits);
  void OpenBulk(Done done);
  void AskTickets(const proto::OpenBulkRequest& request, BulkLink::OnTickets on_end);

  const ServerEndpoint endpoint_;
  const std::string whole_;  // "shards 2, 3 at 127.0.0.1:7502 (server c)"
  const ConnectionOptions options_;
  TrafficCounters* const traffic_;
  std::function<void()> when_stopping_;
  const int num_channels_;
  std::vector<proto::HelloReply> hellos_;  // by channel
  std::atomic<uint32_t> next_{0};
  mutable Mutex mu_;
  RequestLimits limits_ ABSL_GUARDED_BY(mu_);
  std::vector<std::shared_ptr<grpc::Channel>> channels_ ABSL_GUARDED_BY(mu_);
  int num_asking_ ABSL_GUARDED_BY(mu_) = 0;  // calls for tickets that are under way
  CondVar asked_;                            // one is over
  Cancellation closing_;
  std::unique_ptr<BulkLink> bulk_;  // null: all calls go by gRPC
  CallQueue queue_;                 // last: it ends the calls that use all above
};

}  // namespace vicinity
