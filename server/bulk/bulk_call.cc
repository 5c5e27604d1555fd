#include "server/bulk/bulk_call.h"

#include <grpcpp/support/slice.h>
#include <grpcpp/support/status.h>

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/common/grpc_status.h"
#include "server/handlers/chunk_source.h"

namespace vicinity {
namespace {

using bulk::FrameKind;

constexpr std::chrono::hours kLongestTimeout(24);

std::string HeadOf(const CallOutcome& outcome) {
  const grpc::Status status = ToGrpc(outcome.status);  // which cuts the text
  proto::BulkEnd end;
  end.set_code(static_cast<uint32_t>(status.error_code()));
  end.set_text(status.error_message());
  end.set_retry_ms(
      static_cast<uint32_t>(std::clamp<int64_t>(outcome.retry_after.count(), 0, UINT32_MAX)));
  end.set_stopping(outcome.stopping);
  return end.SerializeAsString();
}

}  // namespace

BulkCall::BulkCall(const ServiceContext& service, std::shared_ptr<BulkCallOwner> owner, uint64_t id,
                   proto::BulkRequest request, std::chrono::milliseconds timeout, uint32_t credit)
    : owner_(std::move(owner)),
      bearer_(owner_->bearer()),
      id_(id),
      request_(std::move(request)),
      deadline_(std::chrono::system_clock::now() +
                std::min<std::chrono::milliseconds>(timeout, kLongestTimeout)),
      credit_(credit),
      call_(service, this) {}

void BulkCall::OnRequest(std::string_view payload) {
  had_request_ = true;
  if (wanted_ == nullptr) return;  // it was refused before
  const grpc::Slice slice(payload.data(), payload.size(), grpc::Slice::STATIC_SLICE);
  *std::exchange(wanted_, nullptr) = grpc::ByteBuffer(&slice, 1);
  call_.OnReadDone(true);
}

bool BulkCall::AddCredit(uint32_t bytes) {
  std::optional<Waiting> next;
  {
    MutexLock lock(&mu_);
    credit_ += bytes;
    if (credit_ > bulk::kMaxCredit) return false;
    if (credit_ > 0 && waiting_.has_value()) {
      next.swap(waiting_);
      credit_ -= static_cast<int64_t>(next->message.Length());
    }
  }
  if (next.has_value()) SendNow(*std::move(next));
  return true;
}

void BulkCall::OnCancelled() {
  cancelled_.store(true, std::memory_order_relaxed);
  std::optional<Waiting> dropped;
  {
    MutexLock lock(&mu_);
    gone_ = true;
    dropped.swap(waiting_);
  }
  if (wanted_ != nullptr) {
    wanted_ = nullptr;
    return call_.OnReadDone(false);
  }
  if (dropped.has_value()) {
    dropped->is_dropped = true;
    return SendNow(*std::move(dropped));
  }
  call_.OnCancel();
}

void BulkCall::CutOff() {
  bool is_waiting = false;
  {
    MutexLock lock(&mu_);
    is_waiting = waiting_.has_value();
  }
  if (is_waiting) return OnCancelled();
  owner_->Close(absl::UnavailableError(had_request_ ? "its client reads nothing"
                                                    : "a request does not arrive"));
}

// From under the gate's lock.
void BulkCall::Cancel() { owner_->CutOffSoon(weak_from_this()); }

// A second request there is not.
void BulkCall::StartRead(grpc::ByteBuffer* request) {
  if (had_request_) return call_.OnReadDone(false);
  wanted_ = request;
}

void BulkCall::StartWrite(const grpc::ByteBuffer* message) { Write({*message}); }

void BulkCall::StartWriteAndFinish(const grpc::ByteBuffer* message, const CallOutcome& outcome) {
  Write({*message, outcome});
}

void BulkCall::Finish(const CallOutcome& outcome) { SendEnd(outcome, std::nullopt); }

void BulkCall::Write(Waiting what) {
  {
    MutexLock lock(&mu_);
    if (gone_) {
      what.is_dropped = true;
    } else if (credit_ <= 0) {
      waiting_ = std::move(what);
      return;
    } else {
      credit_ -= static_cast<int64_t>(what.message.Length());
    }
  }
  SendNow(std::move(what));
}

void BulkCall::SendNow(Waiting what) {
  if (what.is_dropped) {
    if (!what.outcome.has_value()) return call_.OnWriteDone(false);
    what.outcome->status = GoneError();
    return SendEnd(*what.outcome, std::nullopt);
  }
  if (what.outcome.has_value()) return SendEnd(*what.outcome, std::move(what.message));
  bulk::FrameSender::Frame frame;
  frame.header.kind = FrameKind::kMessage;
  frame.header.call = id_;
  frame.payload = std::move(what.message);
  frame.waiter = shared_from_this();
  owner_->Send(std::move(frame));
}

void BulkCall::SendEnd(const CallOutcome& outcome, std::optional<grpc::ByteBuffer> message) {
  is_ending_ = true;
  owner_->Ends();
  bulk::FrameSender::Frame frame;
  frame.header.kind = FrameKind::kEnd;
  frame.header.call = id_;
  frame.head = HeadOf(outcome);
  if (message.has_value()) {
    frame.header.flags = bulk::kHasMessage;
    frame.payload = *std::move(message);
  }
  frame.waiter = shared_from_this();
  owner_->Send(std::move(frame));
}

void BulkCall::OnSent(bool ok) {
  if (!is_ending_) return call_.OnWriteDone(ok);
  const std::shared_ptr<BulkCallOwner> owner = owner_;
  call_.OnDone();
  owner->Forget(id_);
}

}  // namespace vicinity
