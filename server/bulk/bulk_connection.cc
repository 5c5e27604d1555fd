#include "server/bulk/bulk_connection.h"

#include <sys/socket.h>

#include <asio/post.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/bulk.pb.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

using bulk::FrameHeader;
using bulk::FrameKind;
using Clock = std::chrono::steady_clock;

// Of the buffer for requests, from one to the next.
constexpr size_t kKeptBytes = 16 << 10;
constexpr int kMostPings = 100;
constexpr std::chrono::seconds kPingsIn(10);
// Frames beside those of calls, which are bounded by themselves: of who asks on and reads nothing.
constexpr size_t kMostUnread = 1000;

template <typename Message>
absl::StatusOr<Message> ParseHead(std::string_view head, const char* what) {
  Message message;
  if (message.ParseFromArray(head.data(), static_cast<int>(head.size()))) return message;
  return absl::InvalidArgumentError(absl::StrCat("the head of ", what, " cannot be read"));
}

}  // namespace

BulkConnection::BulkConnection(asio::io_context* loop, int fd,
                               std::unique_ptr<bulk::ByteStream> stream, BulkTickets::Socket socket,
                               std::shared_ptr<ConnectionAccount> account, const BulkTerms& terms,
                               std::function<void(BulkConnection*)> on_end)
    : loop_(loop),
      socket_(*loop, fd),
      age_(*loop),
      kind_(socket),
      account_(std::move(account)),
      terms_(terms),
      on_end_(std::move(on_end)),
      stream_(std::move(stream)),
      reader_(bulk::Sender::kClient, kKeptBytes),
      sender_(stream_.get(), this) {}

void BulkConnection::Start() {
  age_.expires_after(terms_.opens_within);
  age_.async_wait([self = shared_from_this()](const asio::error_code& error) {
    if (error || self->bearer_ != nullptr) return;
    self->End(absl::UnavailableError("it was not opened in time"));
  });
  AwaitReadable();
}

void BulkConnection::AwaitReadable() {
  socket_.async_wait(asio::posix::stream_descriptor::wait_read,
                     [self = shared_from_this()](const asio::error_code& error) {
                       if (!error) self->Read();
                     });
}

void BulkConnection::Read() {
  if (has_ended_) return;
  const absl::StatusOr<bool> all = ReadFrames();
  if (!all.ok()) return End(all.status());
  if (*all) return AwaitReadable();
  asio::post(*loop_, [self = shared_from_this()] { self->Read(); });
}

// True: there is nothing left for now.
absl::StatusOr<bool> BulkConnection::ReadFrames() {
  if (!has_begun_) {
    VICINITY_ASSIGN_OR_RETURN(has_begun_, stream_->Begin());
    if (!has_begun_) return true;
  }
  return reader_.ReadFrom(stream_.get(), this);
}

absl::Status BulkConnection::OnHeader(const FrameHeader& header, std::string_view head) {
  if (sender_.num_waiting() > kMostUnread) {
    return absl::ResourceExhaustedError("it asks on and reads no answers");
  }
  if ((bearer_ == nullptr) != (header.kind == FrameKind::kOpen)) {
    return absl::InvalidArgumentError(bearer_ == nullptr ? "its first frame is not OPEN"
                                                         : "it is opened twice");
  }
  return header.kind == FrameKind::kRequest ? OnRequest(header, head) : absl::OkStatus();
}

absl::Status BulkConnection::OnFrame(const FrameHeader& header, std::string_view head,
                                     std::string_view payload) {
  if (header.kind == FrameKind::kOpen) return OnOpen(head);
  if (header.kind == FrameKind::kPing) return OnPing(header);
  if (header.kind == FrameKind::kPong) return absl::OkStatus();
  const std::shared_ptr<BulkCall> call = Find(header.call);
  if (call == nullptr) return absl::OkStatus();  // it is over
  switch (header.kind) {
    case FrameKind::kRequest:
      call->OnRequest(payload);
      return absl::OkStatus();
    case FrameKind::kCancel:
      call->OnCancelled();
      return absl::OkStatus();
    default:
      return call->AddCredit(header.credit)
                 ? absl::OkStatus()
                 : absl::InvalidArgumentError("a call has more credit than there may be");
  }
}

absl::Status BulkConnection::OnOpen(std::string_view head) {
  // For the guard an opening is a call: with it the connection has proven something.
  account_->CallBegins();
  account_->RequestArrives(static_cast<int64_t>(bulk::kHeaderBytes + head.size()));
  const absl::StatusOr<proto::BulkOpen> open = ParseHead<proto::BulkOpen>(head, "OPEN");
  std::optional<BulkTickets::Bearer> bearer;
  if (open.ok() && open->version() == bulk::kBulkVersion) {
    bearer = terms_.tickets->Redeem(open->ticket(), kind_, Clock::now());
  }
  account_->CallEnds(bearer.has_value() ? CallEnd::kAnswered : CallEnd::kUseless, true);
  VICINITY_RETURN_IF_ERROR(open.status());
  if (open->version() != bulk::kBulkVersion) {
    return absl::InvalidArgumentError(absl::StrCat("it speaks version ", open->version(),
                                                   " of the bulk channel, the server ",
                                                   bulk::kBulkVersion));
  }
  if (!bearer.has_value()) {
    return absl::UnauthenticatedError("its ticket is not good: used, late, or never given");
  }
  bearer_ = std::make_shared<const BulkTickets::Bearer>(*std::move(bearer));
  age_.expires_after(terms_.lives_for);
  age_.async_wait([self = shared_from_this()](const asio::error_code& error) {
    if (!error) self->Drain();
  });
  proto::BulkOpened opened;
  opened.set_max_calls(terms_.max_calls);
  opened.set_max_request_bytes(static_cast<uint32_t>(bulk::kMaxPayloadOfRequest));
  FrameHeader header;
  header.kind = FrameKind::kOpened;
  SendFrame(header, opened.SerializeAsString());
  return absl::OkStatus();
}

absl::Status BulkConnection::OnRequest(const FrameHeader& header, std::string_view head) {
  if (Find(header.call) != nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("call ", header.call, " comes twice"));
  }
  VICINITY_ASSIGN_OR_RETURN(proto::BulkRequest request,
                            ParseHead<proto::BulkRequest>(head, "REQUEST"));
  absl::Status refusal;
  {
    MutexLock lock(&mu_);
    if (drains_) {
      refusal = absl::UnavailableError("the connection takes no more calls");
    } else if (calls_.size() - num_ending_ >= terms_.max_calls) {
      account_->CallBegins();
      account_->CallEnds(CallEnd::kUseless, false);
      refusal = absl::ResourceExhaustedError(
          absl::StrCat("more than ", terms_.max_calls, " calls at once on a connection"));
    }
  }
  if (!refusal.ok()) {
    Refuse(header.call, refusal);
    return absl::OkStatus();
  }
  auto call = std::make_shared<BulkCall>(
      *terms_.service, shared_from_this(), header.call, std::move(request),
      std::chrono::milliseconds(header.timeout_ms), header.credit);
  {
    MutexLock lock(&mu_);
    calls_.emplace(header.call, call);
  }
  call->Begin();
  return absl::OkStatus();
}

void BulkConnection::Refuse(uint64_t call, const absl::Status& status) {
  proto::BulkEnd end;
  end.set_code(static_cast<uint32_t>(status.code()));
  end.set_text(std::string(status.message()));
  FrameHeader header;
  header.kind = FrameKind::kEnd;
  header.call = call;
  SendFrame(header, end.SerializeAsString());
}

absl::Status BulkConnection::OnPing(const FrameHeader& header) {
  const Clock::time_point now = Clock::now();
  if (now - pings_since_ > kPingsIn) {
    pings_since_ = now;
    pings_ = 0;
  }
  if (++pings_ > kMostPings) return absl::InvalidArgumentError("it pings too often");
  FrameHeader pong;
  pong.kind = FrameKind::kPong;
  pong.call = header.call;
  SendFrame(pong);
  return absl::OkStatus();
}

std::shared_ptr<BulkCall> BulkConnection::Find(uint64_t call) {
  MutexLock lock(&mu_);
  const auto found = calls_.find(call);
  return found == calls_.end() ? nullptr : found->second;
}

void BulkConnection::SendFrame(FrameHeader header, std::string head) {
  bulk::FrameSender::Frame frame;
  frame.header = header;
  frame.head = std::move(head);
  Send(std::move(frame));
}

void BulkConnection::Send(bulk::FrameSender::Frame frame) {
  const std::shared_ptr<BulkConnection> self = shared_from_this();
  const bool in_loop = loop_->get_executor().running_in_this_thread();
  sender_.Send(std::move(frame), in_loop ? bulk::FrameSender::kSomeBytes : SIZE_MAX);
}

void BulkConnection::AwaitWritable() {
  asio::post(*loop_, [self = shared_from_this()] {
    self->socket_.async_wait(asio::posix::stream_descriptor::wait_write,
                             [self](const asio::error_code&) { self->sender_.CanWrite(); });
  });
}

void BulkConnection::Ends() {
  MutexLock lock(&mu_);
  ++num_ending_;
}

void BulkConnection::Forget(uint64_t call) {
  std::shared_ptr<BulkCall> over;  // goes without the lock
  bool is_last = false;
  {
    MutexLock lock(&mu_);
    const auto found = calls_.find(call);
    if (found == calls_.end()) return;
    over = std::move(found->second);
    calls_.erase(found);
    --num_ending_;
    is_last = drains_ && calls_.empty();
  }
  if (is_last) Close(absl::OkStatus());
}

void BulkConnection::CutOffSoon(std::weak_ptr<BulkCall> call) {
  asio::post(*loop_, [self = shared_from_this(), call = std::move(call)] {
    if (const std::shared_ptr<BulkCall> there = call.lock(); there != nullptr) there->CutOff();
  });
}

void BulkConnection::Drain() {
  FrameHeader header;
  header.kind = FrameKind::kGoodbye;
  SendFrame(header);
  bool is_idle = false;
  {
    MutexLock lock(&mu_);
    drains_ = true;
    is_idle = calls_.empty();
  }
  if (is_idle) End(absl::OkStatus());
}

void BulkConnection::Close(const absl::Status& why) {
  asio::post(*loop_, [self = shared_from_this(), why] { self->End(why); });
}

void BulkConnection::End(const absl::Status& why) {
  if (std::exchange(has_ended_, true)) return;
  const std::shared_ptr<BulkConnection> self = shared_from_this();
  if (!why.ok() && terms_.service->log->should_log(spdlog::level::debug)) {
    terms_.service->log->debug("bulk connection of {} ended: {}",
                               bearer_ != nullptr ? bearer_->peer : "nobody", why.ToString());
  }
  age_.cancel();
  // What waits for the socket learns of its end by this, too.
  shutdown(socket_.native_handle(), SHUT_RDWR);
  sender_.Break();
  std::vector<std::shared_ptr<BulkCall>> calls;
  {
    MutexLock lock(&mu_);
    for (const auto& each : calls_) calls.push_back(each.second);
  }
  for (const std::shared_ptr<BulkCall>& call : calls) call->OnCancelled();
  on_end_(this);
}

}  // namespace vicinity
