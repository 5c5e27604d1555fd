#include "client/server_connection.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/piece_run.h"
#include "proto/version.h"

namespace vicinity {
namespace {

// gRPC refuses messages above 4 MiB unless told otherwise: requests stay well below that.
constexpr int64_t kMaxRequestIds = (int64_t{3} << 20) / 8;
// A reply chunk is small, but for a row or name that alone is wider than a chunk.
constexpr int kMaxReplyMessage = 64 << 20;

grpc::ChannelArguments ChannelSettings() {
  grpc::ChannelArguments arguments;
  // Channels of equal settings would otherwise share one connection.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 5'000);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);  // retry is ours, above the wire
  arguments.SetMaxReceiveMessageSize(kMaxReplyMessage);
  return arguments;
}

std::string AddressOf(const ServerEndpoint& endpoint) {
  return absl::StrCat(endpoint.address, " (server ", endpoint.name, ")");
}

int64_t Bounded(uint64_t limit) {
  return static_cast<int64_t>(std::min<uint64_t>(limit, INT64_MAX));
}

}  // namespace

ServerConnection::ServerConnection(ServerEndpoint endpoint, const ConnectionOptions& options,
                                   TrafficCounters* traffic)
    : endpoint_(std::move(endpoint)),
      whole_(absl::StrCat(
          "shards ",
          absl::StrJoin(endpoint_.shards, ", ",
                        [](std::string* out, ShardId shard) { absl::StrAppend(out, shard.value); }),
          " at ", AddressOf(endpoint_))),
      options_(options),
      traffic_(traffic) {
  const int num_channels = std::max(1, options.channels);
  hellos_.resize(num_channels);
  for (int i = 0; i < num_channels; ++i) {
    channels_.push_back(grpc::CreateCustomChannel(
        endpoint_.address, grpc::InsecureChannelCredentials(), ChannelSettings()));
    stubs_.push_back(proto::Graph::NewStub(channels_.back()));
  }
}

void ServerConnection::Connect(Done done) {
  const auto num_channels = static_cast<int64_t>(channels_.size());
  RunPieces(
      num_channels, static_cast<int>(num_channels),
      [this](int64_t channel, Done said) { SayHello(channel, std::move(said)); },
      [this, done = std::move(done)](const absl::Status& status) {
        done(status.ok() ? CheckHellos() : status);
      });
}

void ServerConnection::SayHello(size_t channel, Done done) {
  proto::HelloRequest request;
  request.set_protocol_version(kProtocolVersion);
  request.set_client(options_.client_name);
  CallSettings settings;
  settings.where = whole_ + ": Hello";
  settings.timeout = options_.connect_timeout;
  settings.wait_for_ready = true;
  traffic_->calls.fetch_add(1, std::memory_order_relaxed);
  UnaryCall<proto::HelloRequest, proto::HelloReply>::Start(
      stubs_[channel].get(), &proto::Graph::StubInterface::async_interface::Hello,
      std::move(request), settings,
      [this, channel, done = std::move(done)](absl::Status status, const proto::HelloReply& reply) {
        if (absl::IsDeadlineExceeded(status) &&
            channels_[channel]->GetState(false) != GRPC_CHANNEL_READY) {
          status = absl::UnavailableError(
              absl::StrFormat("%s: Hello: no connection in %.1f s", whole_,
                              std::chrono::duration<double>(options_.connect_timeout).count()));
        }
        if (status.ok()) status = CheckHello(reply);
        if (status.ok()) hellos_[channel] = reply;
        done(status);
      });
}

absl::Status ServerConnection::CheckHello(const proto::HelloReply& reply) const {
  if (reply.protocol_version() != kProtocolVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat(whole_, ": Hello: the server speaks protocol version ",
                     reply.protocol_version(), ", this client ", kProtocolVersion));
  }
  if (reply.limits().max_ids() == 0 || reply.limits().max_sampled() == 0) {
    return absl::InternalError(absl::StrCat(whole_, ": Hello: the server's limits allow nothing"));
  }
  return absl::OkStatus();
}

absl::Status ServerConnection::CheckHellos() {
  for (const proto::HelloReply& other : hellos_) {
    if (other.fingerprint() != hello().fingerprint()) {
      return absl::FailedPreconditionError(
          absl::StrFormat("%s: Hello: dataset %016x on one connection and %016x on another", whole_,
                          hello().fingerprint(), other.fingerprint()));
    }
  }
  limits_.max_ids = std::min(kMaxRequestIds, Bounded(hello().limits().max_ids()));
  limits_.max_sampled = Bounded(hello().limits().max_sampled());
  return absl::OkStatus();
}

absl::Status ServerConnection::Describe(proto::DescribeReply* reply) {
  proto::DescribeRequest request;
  request.set_fingerprint(hello().fingerprint());
  CallSettings settings;
  settings.where = whole_ + ": Describe";
  settings.timeout = options_.call_timeout;
  traffic_->calls.fetch_add(1, std::memory_order_relaxed);
  FanOut calls;
  UnaryCall<proto::DescribeRequest, proto::DescribeReply>::Start(
      NextStub(), &proto::Graph::StubInterface::async_interface::Describe, std::move(request),
      settings,
      [reply, done = calls.Add()](const absl::Status& status, const proto::DescribeReply& got) {
        if (status.ok()) *reply = got;
        done(status);
      });
  return calls.Wait();
}

proto::Graph::Stub* ServerConnection::NextStub() {
  const size_t first = next_.fetch_add(1, std::memory_order_relaxed);
  for (size_t i = 0; i < channels_.size(); ++i) {
    const size_t channel = (first + i) % channels_.size();
    // Asking wakes a channel that has gone to sleep, so that it is ready for the next call.
    if (channels_[channel]->GetState(true) == GRPC_CHANNEL_READY) return stubs_[channel].get();
  }
  return stubs_[first % channels_.size()].get();
}

CallSettings ServerConnection::Settings(ShardId shard, const char* method,
                                        Cancellation* cancel) const {
  CallSettings settings;
  settings.where = absl::StrCat("shard ", shard.value, " at ", AddressOf(endpoint_), ": ", method);
  settings.timeout = options_.call_timeout;
  settings.cancel = cancel;
  return settings;
}

}  // namespace vicinity
