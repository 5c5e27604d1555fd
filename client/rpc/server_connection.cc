#include "client/rpc/server_connection.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/shards/piece_run.h"
#include "proto/common/status.h"
#include "proto/limits.h"
#include "proto/version.h"

namespace vicinity {
namespace {

// Of the bulk channel, for each of gRPC's: what comes over one is read and sent one message after
// the other, which two cores are not busy with. Six do not move more than four.
constexpr int kBulkConnections = 2;
// For which a server gives tickets.
constexpr int kMostBulkConnections = 16;

// A reply chunk is small, but for a row or name that alone is wider than a chunk.
constexpr int kMaxReplyMessage = 64 << 20;

grpc::ChannelArguments ChannelSettings(const ConnectionOptions& options) {
  grpc::ChannelArguments arguments;
  // Channels of equal settings would otherwise share one connection.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // gRPC also makes the second the kernel's limit for bytes that nobody acknowledges
  // (TCP_USER_TIMEOUT), so that a host that has lost its power is noticed after that alone.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, static_cast<int>(options.keepalive_time.count()));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                   static_cast<int>(options.keepalive_timeout.count()));
  // As often as calls last: otherwise gRPC asks twice and then no more.
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 5'000);
  // A server whose name leads elsewhere from now on is found there: gRPC would go on dialling what
  // it has found in the last 30 s.
  arguments.SetInt(GRPC_ARG_DNS_MIN_TIME_BETWEEN_RESOLUTIONS_MS, 1'000);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);  // retry is ours, above the wire
  arguments.SetMaxReceiveMessageSize(kMaxReplyMessage);
  // gRPC inflates a message before it looks at its size; servers send none that are compressed.
  arguments.SetInt(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  // A chunk comes as one frame, and is read in pieces of one size: some 7 % less work than by
  // gRPC's own choices. Memory of larger pieces would go back to the system, and be new each time.
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, 1 << 20);
  arguments.SetInt(GRPC_ARG_TCP_READ_CHUNK_SIZE, 64 << 10);
  arguments.SetInt(GRPC_ARG_TCP_MIN_READ_CHUNK_SIZE, 64 << 10);
  arguments.SetInt(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, 64 << 10);
  return arguments;
}

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address,
                                           const ConnectionOptions& options) {
  return grpc::CreateCustomChannel(
      address,
      options.credentials != nullptr ? options.credentials : grpc::InsecureChannelCredentials(),
      ChannelSettings(options));
}

// Asking wakes a channel that has gone to sleep, so that it is ready for the next call.
bool IsReady(const std::shared_ptr<grpc::Channel>& channel) {
  return channel->GetState(true) == GRPC_CHANNEL_READY;
}

std::string AddressOf(const ServerEndpoint& endpoint) {
  return absl::StrCat(endpoint.address, " (server ", endpoint.name, ")");
}

int64_t Bounded(uint64_t limit) {
  return static_cast<int64_t>(std::min<uint64_t>(limit, INT64_MAX));
}

// "[::1]:7500" is at "::1".
std::string HostOf(const std::string& address) {
  std::string host = address.substr(0, address.rfind(':'));
  const bool is_v6 = host.size() > 2 && host.front() == '[' && host.back() == ']';
  return is_v6 ? host.substr(1, host.size() - 2) : host;
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
      traffic_(traffic),
      num_channels_(std::max(1, options.channels)) {
  hellos_.resize(num_channels_);
  if (options_.transport != Transport::kGrpc) {
    BulkLink::Options bulk;
    bulk.host = HostOf(endpoint_.address);
    bulk.tls = options_.tls_sessions;
    bulk.connections = std::min(kBulkConnections * num_channels_, kMostBulkConnections);
    bulk.over = options_.bulk_over;
    bulk.connect_timeout = options_.connect_timeout;
    bulk.keepalive_time = options_.keepalive_time;
    bulk.keepalive_timeout = options_.keepalive_timeout;
    bulk_ = std::make_unique<BulkLink>(
        std::move(bulk), [this](const proto::OpenBulkRequest& request, BulkLink::OnTickets on_end) {
          AskTickets(request, std::move(on_end));
        });
  }
  MutexLock lock(&mu_);
  for (int i = 0; i < num_channels_; ++i)
    channels_.push_back(MakeChannel(endpoint_.address, options_));
}

// A call for tickets, which nobody waits for any more, ends soon.
ServerConnection::~ServerConnection() {
  closing_.Cancel();
  if (bulk_ != nullptr) bulk_->Close();
  MutexLock lock(&mu_);
  while (num_asking_ > 0) asked_.WaitFor(&mu_, std::chrono::seconds(1));
}

void ServerConnection::Connect(Cancellation* cancel, Done done) {
  RunPieces(
      num_channels_, num_channels_,
      [this, cancel](int64_t channel, Done said) { SayHello(channel, cancel, std::move(said)); },
      [this, done = std::move(done)](absl::Status status) {
        if (status.ok()) status = CheckHellos();
        if (!status.ok() || bulk_ == nullptr) return done(status);
        OpenBulk(done);
      });
}

void ServerConnection::OpenBulk(Done done) {
  if (!hello().bulk()) {
    const bool matters = options_.transport == Transport::kBulk;
    return done(matters ? absl::FailedPreconditionError(absl::StrCat(
                              whole_,
                              ": the server has no bulk channel (vicinityd --bulk), which "
                              "transport=bulk asks for"))
                        : absl::OkStatus());
  }
  if (options_.transport == Transport::kAuto) {
    // It may not be reached at all, as behind a firewall, and gRPC does until it is there.
    bulk_->Open([](const absl::Status&) {});
    return done(absl::OkStatus());
  }
  bulk_->Open([this, done = std::move(done)](const absl::Status& status) {
    done(status.ok() ? status : At(whole_, status));
  });
}

void ServerConnection::AskTickets(const proto::OpenBulkRequest& request,
                                  BulkLink::OnTickets on_end) {
  CallSettings settings;
  settings.where = "Open";
  settings.service = "vicinity.proto.Bulk";
  settings.method = "Open";
  settings.timeout = options_.connect_timeout;
  settings.context = &closing_;
  auto got = std::make_shared<proto::OpenBulkReply>();
  {
    MutexLock lock(&mu_);
    ++num_asking_;
  }
  StartSingle<proto::OpenBulkReply>(
      request, settings,
      [got](const proto::OpenBulkReply& reply, const SlicedMessage&) {
        *got = reply;
        return absl::OkStatus();
      },
      [this, got, on_end = std::move(on_end)](const absl::Status& status) {
        on_end(status, *got);
        MutexLock lock(&mu_);
        --num_asking_;
        asked_.NotifyAll();
      });
}

void ServerConnection::SayHello(size_t channel, Cancellation* cancel, Done done) {
  proto::HelloRequest request;
  request.set_protocol_version(kProtocolVersion);
  request.set_client(options_.client_name);
  CallSettings settings;
  settings.where = whole_ + ": Hello";
  settings.method = "Hello";
  settings.timeout = options_.connect_timeout;
  settings.wait_for_ready = true;
  settings.context = cancel;
  traffic_->CountCall(0);
  StartSingleCall<proto::HelloReply>(
      {ChannelAt(channel), &queue_}, std::move(request), settings,
      [this, channel](const proto::HelloReply& reply, const SlicedMessage&) {
        hellos_[channel] = reply;
        return absl::OkStatus();
      },
      [this, channel, done = std::move(done)](absl::Status status) {
        if (absl::IsDeadlineExceeded(status) && !IsReady(ChannelAt(channel))) {
          status = NoConnection(options_.connect_timeout);
        }
        done(status.ok() ? CheckHello(hellos_[channel]) : status);
      });
}

void ServerConnection::AskHello(
    Cancellation* cancel, std::chrono::milliseconds timeout,
    std::function<void(const absl::Status&, const proto::HelloReply&)> on_end) {
  proto::HelloRequest request;
  request.set_protocol_version(kProtocolVersion);
  request.set_client(options_.client_name);
  CallSettings settings;
  settings.where = whole_ + ": Hello";
  settings.method = "Hello";
  settings.timeout = timeout;
  settings.wait_for_ready = true;
  settings.context = cancel;
  auto got = std::make_shared<proto::HelloReply>();
  StartSingle<proto::HelloReply>(
      std::move(request), settings,
      [got](const proto::HelloReply& reply, const SlicedMessage&) {
        *got = reply;
        return absl::OkStatus();
      },
      [this, got, timeout, on_end = std::move(on_end)](absl::Status status) {
        if (absl::IsDeadlineExceeded(status) && !AnyReady()) status = NoConnection(timeout);
        if (status.ok()) status = CheckHello(*got);
        if (status.ok()) TakeLimits(got->limits());
        // Who takes its place at its address may have the channel, where it had none.
        if (status.ok() && bulk_ != nullptr && got->bulk()) bulk_->Open([](const absl::Status&) {});
        on_end(status, *got);
      });
}

absl::Status ServerConnection::NoConnection(std::chrono::milliseconds timeout) const {
  return absl::UnavailableError(absl::StrFormat("%s: Hello: no connection in %.1f s", whole_,
                                                std::chrono::duration<double>(timeout).count()));
}

bool ServerConnection::AnyReady() const {
  MutexLock lock(&mu_);
  return std::any_of(channels_.begin(), channels_.end(), IsReady);
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
  TakeLimits(hello().limits());
  return absl::OkStatus();
}

void ServerConnection::TakeLimits(const proto::Limits& limits) {
  MutexLock lock(&mu_);
  limits_.max_ids = std::min(kMaxRequestIds, Bounded(limits.max_ids()));
  limits_.max_sampled = Bounded(limits.max_sampled());
}

RequestLimits ServerConnection::limits() const {
  MutexLock lock(&mu_);
  return limits_;
}

absl::Status ServerConnection::Describe(uint64_t fingerprint, proto::DescribeReply* reply) {
  proto::DescribeRequest request;
  request.set_fingerprint(fingerprint);
  CallSettings settings;
  settings.where = whole_ + ": Describe";
  settings.method = "Describe";
  settings.timeout = options_.call_timeout;
  FanOut calls;
  StartSingle<proto::DescribeReply>(
      std::move(request), settings,
      [reply](const proto::DescribeReply& got, const SlicedMessage&) {
        *reply = got;
        return absl::OkStatus();
      },
      calls.Add());
  return calls.Wait();
}

CallRoute ServerConnection::NextRoute(const CallSettings& settings) {
  const uint32_t turn = next_.fetch_add(1, std::memory_order_relaxed);
  if (settings.may_be_bulk && bulk_ != nullptr) {
    CallRoute route;
    route.bulk = bulk_->Next(settings.lane, turn);
    if (route.bulk != nullptr) return route;
  }
  return NextChannel(settings.lane, turn);
}

CallRoute ServerConnection::NextChannel(CallLane lane, uint32_t turn) {
  MutexLock lock(&mu_);
  size_t first = lane == CallLane::kShort ? 0 : turn % channels_.size();
  if (lane == CallLane::kLong && channels_.size() > 1) first = 1 + turn % (channels_.size() - 1);
  for (size_t i = 0; i < channels_.size(); ++i) {
    const std::shared_ptr<grpc::Channel>& channel = channels_[(first + i) % channels_.size()];
    if (IsReady(channel)) return {channel, &queue_};
  }
  return {channels_[first], &queue_};
}

CallSettings ServerConnection::Watched(CallSettings settings, const CallRoute& route) {
  if (route.bulk != nullptr) {
    settings.on_silence = [channel = route.bulk.get()] { channel->Retire(); };
    settings.on_unknown = [this] { bulk_->Renew(); };
  } else {
    settings.on_silence = [this, channel = route.channel.get()] { Replace(channel); };
  }
  settings.on_stopping = when_stopping_;
  return settings;
}

void ServerConnection::Replace(const grpc::Channel* channel) {
  const std::shared_ptr<grpc::Channel> fresh = MakeChannel(endpoint_.address, options_);
  MutexLock lock(&mu_);
  for (std::shared_ptr<grpc::Channel>& one : channels_) {
    if (one.get() == channel) one = fresh;
  }
}

std::shared_ptr<grpc::Channel> ServerConnection::ChannelAt(size_t position) const {
  MutexLock lock(&mu_);
  return channels_[position];
}

CallSettings ServerConnection::Settings(ShardId shard, const char* method,
                                        const CallContext& context) const {
  CallSettings settings;
  settings.where = absl::StrCat("shard ", shard.value, " at ", AddressOf(endpoint_), ": ", method);
  settings.method = method;
  settings.timeout = options_.call_timeout;
  settings.context = context;
  settings.may_be_bulk = true;
  return settings;
}

}  // namespace vicinity
