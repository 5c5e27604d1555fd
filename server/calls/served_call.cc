#include "server/calls/served_call.h"

#include <chrono>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/common/status.h"
#include "proto/telemetry/trace_context.h"
#include "server/calls/read_request.h"
#include "server/connections/peer_address.h"

namespace vicinity {
namespace {

// What takes less time to make than to hand to a worker and to wake it, some 40 microseconds.
constexpr int64_t kBriefReplyBytes = 64 << 10;
// Of a connection with more of them at once there may be floods, each given up as soon as it is
// asked: until a worker gets to it this is known, and it is not answered for nothing.
constexpr int64_t kMostBriefCalls = 8;

absl::Status UnknownMethod(const std::string& method) {
  // Escaped and cut: the text is whatever the caller likes.
  return absl::UnimplementedError(
      absl::StrCat("no method ", absl::CHexEscape(method.substr(0, 100)), " here"));
}

}  // namespace

ServedCall::ServedCall(const ServiceContext& service, CallWire* wire)
    : service_(service),
      wire_(wire),
      operation_(FindOperation(service.operations, wire->method())),
      peer_(wire->peer()),
      account_(wire->account()),
      passage_(
          service.gate, [this] { service_.workers->Push(this); }, [this] { wire_->Cancel(); }) {}

void ServedCall::Begin() {
  absl::StatusOr<ServerTrust::Identity> identity =
      service_.trust->Identify(wire_->method(), wire_->proof());
  account_->CallBegins();
  if (!identity.ok()) {
    End(CallEnd::kUseless, identity.status());
  } else if (operation_ == nullptr) {
    End(CallEnd::kUseless, UnknownMethod(wire_->method()));
  } else {
    identity_ = *std::move(identity);
    wire_->StartRead(&request_);
  }
}

// Also looks at the clock: the wire learns of a deadline only when its own timer gets to run.
bool ServedCall::IsOver() const {
  return wire_->IsCancelled() || wire_->deadline() <= std::chrono::system_clock::now();
}

void ServedCall::OnReadDone(bool ok) {
  if (!ok) {
    // A conversation ends when its caller has no more to ask.
    const bool is_end = had_request_ && !wire_->IsCancelled();
    return is_end ? End(CallEnd::kAnswered, absl::OkStatus())
                  : End(CallEnd::kUseless, IsOver() ? GoneError() : UnreadableRequest());
  }
  passage_.RequestIsThere();
  if (!had_request_) account_->RequestArrives(static_cast<int64_t>(request_.Length()));
  had_request_ = true;
  if (service_.tracing != nullptr && !operation_->is_conversation) {
    trace_.Begins(service_.tracing, operation_->path, wire_->traceparent(),
                  static_cast<int64_t>(request_.Length()));
  }
  if (operation_->is_counted) {
    counted_.emplace(service_.counters, operation_ - service_.operations.data());
  }
  absl::StatusOr<std::unique_ptr<Exchange>> exchange = operation_->parse(&request_);
  request_.Clear();
  if (!exchange.ok()) return End(CallEnd::kUseless, exchange.status());
  exchange_ = *std::move(exchange);
  exchange_->ComesFrom({wire_, service_.bulk});
  state_ = service_.states->Of(exchange_->fingerprint());
  if (const std::string name = exchange_->client_name(); !name.empty()) {
    service_.clients->Learn(peer_, name);
    // Escaped and cut: the text is whatever the caller likes.
    service_.log->debug("hello from {} at {}", absl::CHexEscape(name.substr(0, 200)), peer_);
  }
  if (operation_->is_logged) {
    service_.log->info("{} by {} at {}{}", operation_->path, identity_.shown, peer_, TraceText());
  }
  if (counted_.has_value()) {
    counted_->AddReceived(exchange_->request_bytes());
    counted_->AddCopied(exchange_->request_bytes());  // by protobuf, into the message
  }
  has_begun_ = false;
  Enter();
}

CallGate::Passage::Wish ServedCall::MakeWish() const {
  CallGate::Passage::Wish wish;
  wish.lane = operation_->lane;
  wish.reply_bytes = exchange_->reply_bytes(*state_);
  wish.deadline = wire_->deadline();
  // Whoever has not shown who it is could be as many clients as it likes; it asks for no data.
  const std::optional<PeerAddress> address =
      identity_.client.empty() && wish.lane != Lane::kData ? PeerOfText(peer_) : std::nullopt;
  wish.client = address.has_value() ? absl::StrCat("somebody at ", address->machine)
                                    : service_.clients->Of(peer_, identity_.client);
  return wish;
}

void ServedCall::Enter() {
  CallGate::Passage::Wish wish = MakeWish();
  const bool is_brief = wish.lane == Lane::kData && wish.reply_bytes <= kBriefReplyBytes &&
                        account_->live() <= kMostBriefCalls;
  account_->SetClient(wish.client);
  switch (passage_.Enter(std::move(wish))) {
    case Admission::Place::kRunning:
      return is_brief ? service_.workers->RunBrief(this) : service_.workers->Push(this);
    case Admission::Place::kRefused:
      return EndRefused();
    case Admission::Place::kWaiting:
    case Admission::Place::kOutside:
      // Its caller may have gone before there was anything to abandon. If its turn has come, this
      // lives on still: its wire keeps it until OnReadDone, of which this is a part, has returned.
      if (wire_->IsCancelled()) OnCancel();
  }
}

void ServedCall::OnCancel() {
  if (passage_.Abandon()) End(CallEnd::kUseless, GoneError());
}

void ServedCall::Run() {
  if (passage_.place() == Admission::Place::kRefused) return EndRefused();
  while (true) {
    made_status_ = MakeMessage();
    // The one before is still on its way: whoever hears that it is gone goes on.
    int progress = kMaking | kSending;
    if (progress_.compare_exchange_strong(progress, kSending)) return;
    const bool is_last = !made_status_.ok() || piece_ != Piece::kMore || (progress & kLost) != 0;
    if (is_last) return GoOn();
    Send();
  }
}

// With a message, or the reason why there is none, and nothing on its way.
void ServedCall::GoOn() {
  if ((progress_ & kLost) != 0) return End(CallEnd::kUseless, GoneError());
  if (!made_status_.ok()) {
    return End(absl::IsCancelled(made_status_) ? CallEnd::kUseless : CallEnd::kAnswered,
               made_status_);
  }
  if (piece_ == Piece::kNothing) return End(CallEnd::kAnswered, absl::OkStatus());
  const bool more = piece_ == Piece::kMore;
  Send();
  if (more) service_.workers->Push(this);
}

absl::Status ServedCall::MakeMessage() {
  if (IsOver()) return GoneError();
  trace_.Works();
  if (!has_begun_) VICINITY_RETURN_IF_ERROR(exchange_->Begin(*state_));
  has_begun_ = true;
  VICINITY_ASSIGN_OR_RETURN(piece_, exchange_->Next(&made_, [this] { return IsOver(); }));
  if (piece_ != Piece::kNothing && counted_.has_value()) {
    counted_->AddSent(made_.payload);
    counted_->AddCopied(made_.copied);
  }
  if (piece_ != Piece::kNothing) trace_.Made(made_.payload);
  return absl::OkStatus();
}

// The last message takes the call's end with it: after that it may be gone.
void ServedCall::Send() {
  passage_.WriteBegins();
  trace_.Sends();
  std::swap(made_, sending_);
  if (piece_ == Piece::kMore) {
    progress_ = kMaking | kSending;
    wire_->StartWrite(&sending_.bytes);
  } else if (operation_->is_conversation) {
    progress_ = kSending;
    wire_->StartWrite(&sending_.bytes);
  } else {
    wire_->StartWriteAndFinish(&sending_.bytes, Note(CallEnd::kAnswered, absl::OkStatus()));
  }
}

void ServedCall::OnWriteDone(bool ok) {
  if (ok) passage_.WriteEnds(sending_.payload);
  sending_.bytes.Clear();
  if (operation_->is_conversation) {
    if (!ok) return End(CallEnd::kUseless, GoneError());
    progress_ = kMaking;
    passage_.Leave();
    return wire_->StartRead(&request_);
  }
  // A worker that is making the next message goes on with it.
  int progress = kMaking | kSending;
  if (progress_.compare_exchange_strong(progress, ok ? kMaking : kMaking | kLost)) return;
  progress_ = ok ? kMaking : kMaking | kLost;
  GoOn();
}

void ServedCall::EndRefused() {
  End(passage_.refused_for_client() ? CallEnd::kUseless : CallEnd::kAnswered, passage_.status());
}

// For a line of the log: which operation of its caller it is part of, if that says so.
std::string ServedCall::TraceText() const {
  const std::optional<TraceContext> trace = ParseTraceparent(wire_->traceparent());
  return trace.has_value() ? absl::StrCat(" [trace ", TraceId(*trace), "]") : "";
}

// All that a call's end leaves behind, before the wire is told: after that it may be gone.
CallOutcome ServedCall::Note(CallEnd end, const absl::Status& status) {
  end_ = end;
  trace_.Ends(status.code());
  if (counted_.has_value()) counted_->Finish(status.code());
  if (!status.ok() && service_.log->should_log(spdlog::level::debug)) {
    service_.log->debug("{} for {} failed: {}{}", absl::CHexEscape(wire_->method().substr(0, 100)),
                        peer_, status.ToString(), TraceText());
  }
  CallOutcome outcome;
  outcome.status = status;
  outcome.stopping = service_.states->Of(0)->IsStopping();
  if (!status.ok() && passage_.place() == Admission::Place::kRefused) {
    outcome.retry_after = passage_.retry_after();
  }
  return outcome;
}

void ServedCall::End(CallEnd end, const absl::Status& status) {
  const CallOutcome outcome = Note(end, status);
  // Its client has to take this, too.
  passage_.WriteBegins();
  wire_->Finish(outcome);
}

void ServedCall::OnDone() {
  passage_.WriteEnds(sending_.payload);
  account_->CallEnds(end_, had_request_);
  if (const std::string slow = trace_.Over(peer_); !slow.empty()) {
    service_.log->warn("{}{}", slow, TraceText());
  }
}

}  // namespace vicinity
