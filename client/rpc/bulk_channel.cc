#include "client/rpc/bulk_channel.h"

#include <grpcpp/support/slice.h>
#include <grpcpp/support/status.h>
#include <sys/socket.h>

#include <algorithm>
#include <asio/post.hpp>
#include <atomic>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/bulk.pb.h"
#include "proto/common/grpc_status.h"
#include "proto/common/status.h"
#include "proto/telemetry/trace_context.h"

namespace vicinity {
namespace {

using bulk::FrameHeader;
using bulk::FrameKind;
using Clock = std::chrono::steady_clock;

constexpr size_t kKeptBytes = 1 << 20;
// Of a call: what may be on its way or unread. Granted anew when half of it has been read.
constexpr int64_t kWindow = 4 << 20;

std::string HeadOf(const CallSettings& settings) {
  proto::BulkRequest request;
  request.set_method(absl::StrCat("/", settings.service, "/", settings.method));
  // As with gRPC: of a sampled trace an attempt is a span by itself.
  if (const TraceContext& trace = settings.context.trace; trace.is_valid()) {
    request.set_traceparent(Traceparent(trace.sampled ? trace : StartSpan(trace)));
  }
  return request.SerializeAsString();
}

absl::Status Surprising(const char* what, uint64_t call) {
  return absl::InvalidArgumentError(
      absl::StrCat("the server breaks the rules of the bulk channel: ", what, " of call ", call));
}

}  // namespace

struct BulkChannel::Call final : public bulk::FrameSender::Waiter {
  void OnSent(bool ok) override {
    if (!ok) return;  // the connection is over, and its calls with it
    if (progress.fetch_or(kSent) & kGivenUp) channel->SendFrame(FrameKind::kCancel, id);
  }
  // True: its request has gone, so that CANCEL does not come before it.
  bool GiveUp() { return (progress.fetch_or(kGivenUp) & kSent) != 0; }

  std::shared_ptr<BulkChannel> channel;
  uint64_t id = 0;
  CallSettings settings;
  Clock::time_point begun;
  Clock::time_point deadline;
  std::function<absl::Status(grpc::ByteBuffer*)> on_message;
  Done done;
  int64_t cancel_id = -1;
  enum : int { kSent = 1, kGivenUp = 2 };
  std::atomic<int> progress{0};
  bool is_cancelled = false;  // guarded by the channel's mutex
  // The loop's thread's.
  int64_t credit = kWindow;
  int64_t consumed = 0;  // and not granted anew
  int64_t num_messages = 0;
};

BulkChannel::BulkChannel(asio::io_context* loop, int fd, std::unique_ptr<bulk::ByteStream> stream,
                         Options options)
    : loop_(loop),
      socket_(*loop, fd),
      opens_(*loop),
      deadlines_(*loop),
      keepalive_(*loop),
      options_(std::move(options)),
      stream_(std::move(stream)),
      reader_(bulk::Sender::kServer, kKeptBytes),
      sender_(stream_.get(), this) {}

void BulkChannel::Open(Done done) {
  absl::Status closed;
  {
    MutexLock lock(&mu_);
    if (stage_ == Stage::kClosed) closed = why_closed_;
  }
  if (!closed.ok()) return done(closed);
  opened_ = std::move(done);
  opens_.expires_after(options_.open_timeout);
  opens_.async_wait([self = shared_from_this()](const asio::error_code& error) {
    if (!error && self->opened_) self->End(absl::UnavailableError("it was not opened in time"));
  });
  const absl::StatusOr<bool> begun = Begin();
  if (!begun.ok()) return End(begun.status());
  AwaitReadable();
}

// False: the server has to say something before OPEN may go.
absl::StatusOr<bool> BulkChannel::Begin() {
  if (has_begun_) return true;
  VICINITY_ASSIGN_OR_RETURN(has_begun_, stream_->Begin());
  if (!has_begun_) return false;
  proto::BulkOpen open;
  open.set_version(bulk::kBulkVersion);
  open.set_ticket(options_.ticket);
  bulk::FrameSender::Frame frame;
  frame.header.kind = FrameKind::kOpen;
  frame.head = open.SerializeAsString();
  sender_.Send(std::move(frame));
  return true;
}

bool BulkChannel::is_open() const {
  MutexLock lock(&mu_);
  return stage_ == Stage::kOpen;
}

bool BulkChannel::Reserve() {
  MutexLock lock(&mu_);
  if (stage_ != Stage::kOpen) return false;
  if (calls_.size() + given_up_.size() + reserved_ >= max_calls_) return false;
  ++reserved_;
  return true;
}

bool BulkChannel::IsUsed() const {
  MutexLock lock(&mu_);
  return stage_ == Stage::kOpening || stage_ == Stage::kOpen;
}

void BulkChannel::Start(const grpc::ByteBuffer& request, const CallSettings& settings,
                        std::function<absl::Status(grpc::ByteBuffer*)> on_message, Done done) {
  const std::shared_ptr<BulkChannel> self = shared_from_this();
  auto call = std::make_shared<Call>();
  call->channel = self;
  call->settings = settings;
  call->begun = Clock::now();
  call->deadline = call->begun + settings.timeout;
  call->on_message = std::move(on_message);
  call->done = std::move(done);
  bulk::FrameSender::Frame frame;
  frame.header.kind = FrameKind::kRequest;
  frame.header.timeout_ms =
      static_cast<uint32_t>(std::clamp<int64_t>(settings.timeout.count(), 1, UINT32_MAX));
  frame.header.credit = kWindow;
  frame.head = HeadOf(settings);
  frame.payload = request;
  frame.waiter = call;
  // Before it is there: from then on it may end at any time, and the cancellation with it.
  if (settings.context.cancel != nullptr) {
    call->cancel_id = settings.context.cancel->Add([self, weak = std::weak_ptr<Call>(call)] {
      asio::post(*self->loop_, [self, weak] {
        if (const std::shared_ptr<Call> there = weak.lock()) self->OnCancelled(there);
      });
    });
  }
  const absl::Status entered = Enter(call, request.Length());
  if (!entered.ok()) {
    if (settings.context.cancel != nullptr) settings.context.cancel->Remove(call->cancel_id);
    return call->done(At(settings.where, entered));
  }
  frame.header.call = call->id;
  sender_.Send(std::move(frame));
}

// Gives it its number.
absl::Status BulkChannel::Enter(const std::shared_ptr<Call>& call, size_t request_bytes) {
  MutexLock lock(&mu_);
  --reserved_;
  if (request_bytes > max_request_bytes_) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a request of ", request_bytes, " bytes, the server takes ", max_request_bytes_));
  }
  if (call->is_cancelled || call->settings.context.cancelled())
    return absl::CancelledError("cancelled");
  if (stage_ != Stage::kOpen) {
    return absl::UnavailableError(
        absl::StrCat("the bulk connection is closed: ", why_closed_.message()));
  }
  call->id = ++last_call_;
  calls_.emplace(call->id, call);
  if (looks_at_ == Clock::time_point() || call->deadline < looks_at_) {
    looks_at_ = call->deadline;
    asio::post(*loop_, [self = shared_from_this()] { self->ArmDeadline(); });
  }
  return absl::OkStatus();
}

void BulkChannel::OnCancelled(const std::shared_ptr<Call>& call) {
  {
    MutexLock lock(&mu_);
    call->is_cancelled = true;
  }
  CallEnding ending;
  ending.status = absl::CancelledError("cancelled");
  GiveUp(call, ending);
}

void BulkChannel::AwaitReadable() {
  socket_.async_wait(asio::posix::stream_descriptor::wait_read,
                     [self = shared_from_this()](const asio::error_code& error) {
                       if (!error) self->Read();
                     });
}

void BulkChannel::Read() {
  {
    MutexLock lock(&mu_);
    if (stage_ == Stage::kClosed) return;
  }
  const absl::StatusOr<bool> all = ReadFrames();
  if (!all.ok()) return End(all.status());
  if (*all) return AwaitReadable();
  asio::post(*loop_, [self = shared_from_this()] { self->Read(); });
}

// True: there is nothing left for now.
absl::StatusOr<bool> BulkChannel::ReadFrames() {
  VICINITY_ASSIGN_OR_RETURN(const bool has_begun, Begin());
  if (!has_begun) return true;
  return reader_.ReadFrom(stream_.get(), this);
}

absl::Status BulkChannel::OnHeader(const FrameHeader& header, std::string_view) {
  heard_ = true;
  pinged_ = false;
  if ((opened_ != nullptr) != (header.kind == FrameKind::kOpened)) {
    return Surprising("a frame before or after its OPENED", header.call);
  }
  const bool is_of_call = header.kind == FrameKind::kMessage || header.kind == FrameKind::kEnd;
  if (!is_of_call) return absl::OkStatus();
  const std::shared_ptr<Call> call = Find(header.call);
  if (call == nullptr) {
    MutexLock lock(&mu_);
    return given_up_.count(header.call) > 0 ? absl::OkStatus() : Surprising("a frame", header.call);
  }
  if (header.payload_bytes == 0) return absl::OkStatus();
  if (call->credit <= 0) return Surprising("a message without credit", header.call);
  call->credit -= header.payload_bytes;
  return absl::OkStatus();
}

absl::Status BulkChannel::OnFrame(const FrameHeader& header, std::string_view head,
                                  std::string_view payload) {
  switch (header.kind) {
    case FrameKind::kOpened:
      return OnOpened(head);
    case FrameKind::kGoodbye:
      OnGoodbye();
      return absl::OkStatus();
    case FrameKind::kPing:
      SendFrame(FrameKind::kPong, header.call);
      return absl::OkStatus();
    case FrameKind::kMessage:
    case FrameKind::kEnd:
      break;
    default:
      return absl::OkStatus();
  }
  const std::shared_ptr<Call> call = Find(header.call);
  if (call != nullptr) {
    return header.kind == FrameKind::kEnd ? OnEnd(call, header, head, payload)
                                          : OnMessage(call, payload);
  }
  if (header.kind == FrameKind::kEnd) {
    {
      MutexLock lock(&mu_);
      given_up_.erase(header.call);
    }
    CloseIfOver();
  }
  return absl::OkStatus();
}

absl::Status BulkChannel::OnOpened(std::string_view head) {
  proto::BulkOpened opened;
  if (!opened.ParseFromArray(head.data(), static_cast<int>(head.size())) ||
      opened.max_calls() == 0 || opened.max_request_bytes() == 0) {
    return Surprising("no readable OPENED", 0);
  }
  {
    MutexLock lock(&mu_);
    if (stage_ == Stage::kOpening) stage_ = Stage::kOpen;
    max_calls_ = opened.max_calls();
    max_request_bytes_ = opened.max_request_bytes();
  }
  opens_.cancel();
  ArmKeepalive(options_.keepalive_time);
  std::exchange(opened_, nullptr)(absl::OkStatus());
  return absl::OkStatus();
}

absl::Status BulkChannel::OnMessage(const std::shared_ptr<Call>& call, std::string_view payload) {
  ++call->num_messages;
  const grpc::Slice slice(payload.data(), payload.size(), grpc::Slice::STATIC_SLICE);
  grpc::ByteBuffer message(&slice, 1);
  CallEnding ending;
  ending.aborted = call->on_message(&message);
  if (!ending.aborted.ok()) {
    GiveUp(call, ending);
    return absl::OkStatus();
  }
  call->consumed += static_cast<int64_t>(payload.size());
  if (call->consumed >= kWindow / 2) {
    call->credit += call->consumed;
    SendFrame(FrameKind::kCredit, call->id, static_cast<uint32_t>(call->consumed));
    call->consumed = 0;
  }
  return absl::OkStatus();
}

absl::Status BulkChannel::OnEnd(const std::shared_ptr<Call>& call, const FrameHeader& header,
                                std::string_view head, std::string_view payload) {
  proto::BulkEnd end;
  if (!end.ParseFromArray(head.data(), static_cast<int>(head.size()))) {
    return Surprising("no readable END", call->id);
  }
  CallEnding ending;
  if (header.flags == bulk::kHasMessage) {
    ++call->num_messages;
    const grpc::Slice slice(payload.data(), payload.size(), grpc::Slice::STATIC_SLICE);
    grpc::ByteBuffer message(&slice, 1);
    ending.aborted = call->on_message(&message);
  }
  const auto code = static_cast<grpc::StatusCode>(end.code());
  ending.status = FromGrpc(grpc::Status(code, end.text()));
  ending.num_messages = call->num_messages;
  ending.is_stopping = end.stopping();
  if (end.retry_ms() > 0) ending.retry_delay = absl::StrCat(end.retry_ms());
  if (code == grpc::StatusCode::CANCELLED) {
    // Server and client watch the same deadline.
    ending.is_late = Clock::now() >= call->deadline;
    ending.is_ended = true;
  }
  Finish(call, ending);
  return absl::OkStatus();
}

void BulkChannel::OnGoodbye() { Retire(); }

std::shared_ptr<BulkChannel::Call> BulkChannel::Find(uint64_t id) const {
  MutexLock lock(&mu_);
  const auto found = calls_.find(id);
  return found == calls_.end() ? nullptr : found->second;
}

void BulkChannel::GiveUp(const std::shared_ptr<Call>& call, const CallEnding& ending) {
  {
    MutexLock lock(&mu_);
    if (calls_.count(call->id) == 0) return;  // it is over
    given_up_.insert(call->id);
  }
  if (call->GiveUp()) SendFrame(FrameKind::kCancel, call->id);
  Finish(call, ending);
}

// The call is gone before it tells: whoever hears of it may let go of everything.
void BulkChannel::Finish(const std::shared_ptr<Call>& call, const CallEnding& ending) {
  {
    MutexLock lock(&mu_);
    if (calls_.erase(call->id) == 0) return;
  }
  const CallSettings settings = std::move(call->settings);
  if (settings.context.cancel != nullptr) settings.context.cancel->Remove(call->cancel_id);
  if (settings.time != nullptr) settings.time->Add(Clock::now() - call->begun);
  const absl::Status outcome = EndCall(settings, ending);
  const Done done = std::move(call->done);
  call->on_message = nullptr;
  CloseIfOver();
  done(outcome);
}

void BulkChannel::SendFrame(FrameKind kind, uint64_t call, uint32_t credit) {
  const std::shared_ptr<BulkChannel> self = shared_from_this();
  bulk::FrameSender::Frame frame;
  frame.header.kind = kind;
  frame.header.call = call;
  frame.header.credit = credit;
  sender_.Send(std::move(frame));
}

void BulkChannel::AwaitWritable() {
  asio::post(*loop_, [self = shared_from_this()] {
    self->socket_.async_wait(asio::posix::stream_descriptor::wait_write,
                             [self](const asio::error_code&) { self->sender_.CanWrite(); });
  });
}

void BulkChannel::Retire() {
  {
    MutexLock lock(&mu_);
    if (stage_ != Stage::kOpen) return;
    stage_ = Stage::kRetired;
    why_closed_ = absl::UnavailableError("no more calls are made on it");
  }
  asio::post(*loop_, [self = shared_from_this()] { self->CloseIfOver(); });
}

void BulkChannel::CloseIfOver() {
  {
    MutexLock lock(&mu_);
    if (stage_ != Stage::kRetired || !calls_.empty()) return;
  }
  End(absl::UnavailableError("no more calls are made on it"));
}

void BulkChannel::Close(const absl::Status& why) {
  asio::post(*loop_, [self = shared_from_this(), why] { self->End(why); });
}

void BulkChannel::End(const absl::Status& why) {
  const std::shared_ptr<BulkChannel> self = shared_from_this();
  std::vector<std::shared_ptr<Call>> calls;
  {
    MutexLock lock(&mu_);
    if (stage_ == Stage::kClosed) return;
    stage_ = Stage::kClosed;
    why_closed_ = why;
    for (const auto& each : calls_) calls.push_back(each.second);
    given_up_.clear();
  }
  opens_.cancel();
  deadlines_.cancel();
  keepalive_.cancel();
  // What waits for the socket learns of its end by this, too.
  shutdown(socket_.native_handle(), SHUT_RDWR);
  sender_.Break();
  if (opened_) {
    std::exchange(opened_, nullptr)(absl::UnavailableError(
        absl::StrCat("the bulk connection cannot be opened: ", why.message())));
  }
  CallEnding ending;
  ending.status =
      absl::UnavailableError(absl::StrCat("the bulk connection is gone: ", why.message()));
  for (const std::shared_ptr<Call>& call : calls) Finish(call, ending);
}

void BulkChannel::ArmDeadline() {
  {
    MutexLock lock(&mu_);
    if (looks_at_ == Clock::time_point() || stage_ == Stage::kClosed) return;
    deadlines_.expires_at(looks_at_);
  }
  deadlines_.async_wait([self = shared_from_this()](const asio::error_code& error) {
    if (!error) self->LookAtDeadlines();
  });
}

void BulkChannel::LookAtDeadlines() {
  const Clock::time_point now = Clock::now();
  std::vector<std::shared_ptr<Call>> late;
  {
    MutexLock lock(&mu_);
    looks_at_ = Clock::time_point();
    for (const auto& each : calls_) {
      const Clock::time_point deadline = each.second->deadline;
      if (deadline <= now) {
        late.push_back(each.second);
      } else if (looks_at_ == Clock::time_point() || deadline < looks_at_) {
        looks_at_ = deadline;
      }
    }
  }
  ArmDeadline();
  for (const std::shared_ptr<Call>& call : late) {
    CallEnding ending;
    ending.status = absl::DeadlineExceededError("its time is over");
    ending.is_late = true;
    ending.num_messages = call->num_messages;
    GiveUp(call, ending);
  }
}

void BulkChannel::ArmKeepalive(std::chrono::milliseconds after) {
  keepalive_.expires_after(after);
  keepalive_.async_wait([self = shared_from_this()](const asio::error_code& error) {
    if (!error) self->LookWhetherAlive();
  });
}

void BulkChannel::LookWhetherAlive() {
  if (pinged_) {
    return End(absl::UnavailableError(
        absl::StrCat("it has said nothing for ",
                     (options_.keepalive_time + options_.keepalive_timeout).count(), " ms")));
  }
  bool has_calls = false;
  {
    MutexLock lock(&mu_);
    // End could not cancel what was already on its way here.
    if (stage_ == Stage::kClosed) return;
    has_calls = !calls_.empty();
  }
  if (std::exchange(heard_, false) || !has_calls) return ArmKeepalive(options_.keepalive_time);
  pinged_ = true;
  SendFrame(FrameKind::kPing, 1);
  ArmKeepalive(options_.keepalive_timeout);
}

}  // namespace vicinity
