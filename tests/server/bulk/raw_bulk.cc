#include "tests/server/bulk/raw_bulk.h"

#include <arpa/inet.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstring>
#include <utility>

#include "client/rpc/call_queue.h"
#include "client/rpc/rpc_call.h"
#include "client/shards/fan_out.h"
#include "proto/bulk/tls_stream.h"
#include "proto/common/status.h"

namespace vicinity::testing {

namespace {

constexpr int kLimitMs = 60'000;

}  // namespace

absl::StatusOr<proto::OpenBulkReply> AskForTickets(
    const std::string& address, uint32_t count, proto::BulkSocket over,
    const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  proto::OpenBulkRequest request;
  request.set_connections(count);
  request.set_over(over);
  CallSettings settings;
  settings.where = address;
  settings.service = "vicinity.proto.Bulk";
  settings.method = "Open";
  settings.timeout = std::chrono::seconds(60);
  settings.wait_for_ready = true;
  CallQueue queue;
  proto::OpenBulkReply got;
  FanOut calls;
  StartSingleCall<proto::OpenBulkReply>(
      {grpc::CreateChannel(
           address, credentials != nullptr ? credentials : grpc::InsecureChannelCredentials()),
       &queue},
      request, settings,
      [&](const proto::OpenBulkReply& reply, const SlicedMessage&) {
        got = reply;
        return absl::OkStatus();
      },
      calls.Add());
  VICINITY_RETURN_IF_ERROR(calls.Wait());
  return got;
}

RawBulk::RawBulk(const proto::OpenBulkReply& place, TlsSessions* tls)
    : reader_(bulk::Sender::kServer, 1 << 20) {
  if (!place.unix_name().empty()) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, place.unix_name().data(), place.unix_name().size());
    fd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto size =
        static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + place.unix_name().size());
    REQUIRE(connect(fd_, reinterpret_cast<const sockaddr*>(&address), size) == 0);
  } else {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(place.port()));
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    REQUIRE(connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
  }
  if (tls == nullptr) {
    stream_ = std::make_unique<bulk::SocketStream>(fd_);
  } else {
    stream_ = std::make_unique<bulk::TlsStream>(fd_, tls->New("127.0.0.1"));
  }
}

RawBulk::RawBulk(const proto::OpenBulkReply& place, const std::string& ticket) : RawBulk(place) {
  Open(ticket);
  const std::optional<Frame> opened = Next();
  REQUIRE(opened.has_value());
  REQUIRE(opened->header.kind == bulk::FrameKind::kOpened);
}

RawBulk::~RawBulk() { close(fd_); }

absl::Status RawBulk::Greet() {
  absl::StatusOr<bool> begun = stream_->Begin();
  while (begun.ok() && !*begun) {
    pollfd polled{fd_, POLLIN, 0};
    if (poll(&polled, 1, kLimitMs) <= 0) return absl::DeadlineExceededError("no handshake");
    begun = stream_->Begin();
  }
  return begun.status();
}

void RawBulk::SendBytes(std::string_view bytes) {
  while (!bytes.empty()) {
    const iovec piece = {const_cast<char*>(bytes.data()), bytes.size()};
    const absl::StatusOr<size_t> count = stream_->Write({&piece, 1});
    pollfd polled{fd_, POLLOUT, 0};
    if (!count.ok()) return;  // it is over, which Next tells
    if (*count == 0 && poll(&polled, 1, kLimitMs) <= 0) return;
    bytes.remove_prefix(*count);
  }
}

void RawBulk::Send(bulk::FrameHeader header, const std::string& head, const std::string& payload) {
  header.head_bytes = static_cast<uint16_t>(head.size());
  header.payload_bytes = static_cast<uint32_t>(payload.size());
  const bulk::HeaderBytes bytes = bulk::EncodeHeader(header, head);
  SendBytes(std::string(bytes.data(), bytes.size()) + head + payload);
}

void RawBulk::Open(const std::string& ticket) {
  proto::BulkOpen open;
  open.set_version(bulk::kBulkVersion);
  open.set_ticket(ticket);
  bulk::FrameHeader header;
  header.kind = bulk::FrameKind::kOpen;
  Send(header, open.SerializeAsString());
}

void RawBulk::Request(uint64_t call, const std::string& method, const std::string& payload,
                      uint32_t credit, uint32_t timeout_ms) {
  proto::BulkRequest request;
  request.set_method("/vicinity.proto.Graph/" + method);
  bulk::FrameHeader header;
  header.kind = bulk::FrameKind::kRequest;
  header.call = call;
  header.timeout_ms = timeout_ms;
  header.credit = credit;
  Send(header, request.SerializeAsString(), payload);
}

void RawBulk::SendAbout(bulk::FrameKind kind, uint64_t call, uint32_t credit) {
  bulk::FrameHeader header;
  header.kind = kind;
  header.call = call;
  header.credit = credit;
  Send(header);
}

std::optional<RawBulk::Frame> RawBulk::Next(std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (frames_.empty() && !is_ended_) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd polled{fd_, POLLIN, 0};
    if (left.count() <= 0 || poll(&polled, 1, static_cast<int>(left.count())) <= 0) {
      return std::nullopt;
    }
    is_ended_ = !reader_.ReadFrom(stream_.get(), this).ok();
  }
  if (frames_.empty()) return std::nullopt;
  Frame next = std::move(frames_.front());
  frames_.pop_front();
  return next;
}

bool RawBulk::HasEnded() const {
  pollfd polled{fd_, POLLRDHUP, 0};
  return poll(&polled, 1, 0) > 0 && (polled.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

bool RawBulk::Ends() { return !Next().has_value() && is_ended_; }

absl::Status RawBulk::OnHeader(const bulk::FrameHeader&, std::string_view) {
  return absl::OkStatus();
}

absl::Status RawBulk::OnFrame(const bulk::FrameHeader& header, std::string_view head,
                              std::string_view payload) {
  frames_.push_back({header, std::string(head), std::string(payload)});
  return absl::OkStatus();
}

}  // namespace vicinity::testing
