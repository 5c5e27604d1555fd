// A call of a bulk connection: the wire of a ServedCall.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "proto/bulk.pb.h"
#include "proto/bulk/frame_sender.h"
#include "proto/common/mutex.h"
#include "server/calls/call_wire.h"
#include "server/calls/served_call.h"
#include "server/calls/service_context.h"
#include "server/connections/connection_guard.h"
#include "server/security/bulk_tickets.h"
#include "server/security/credentials.h"

namespace vicinity {

// What a call needs of its connection. Threads: any.
class BulkCallOwner {
 public:
  virtual ~BulkCallOwner() = default;

  virtual std::shared_ptr<ConnectionAccount> account() const = 0;
  virtual std::shared_ptr<const BulkTickets::Bearer> bearer() const = 0;
  virtual void Send(bulk::FrameSender::Frame frame) = 0;
  // Its END is about to be sent, by which the client knows that its place is free: it must be then.
  virtual void Ends() = 0;
  // The call is over, after Ends.
  virtual void Forget(uint64_t call) = 0;
  // From its loop's thread, soon: BulkCall::CutOff.
  virtual void CutOffSoon(std::weak_ptr<class BulkCall> call) = 0;
  // Ends the connection; for the log.
  virtual void Close(const absl::Status& why) = 0;
};

// Sends a message while the call has credit; without it the message waits here.
//
// Threads:  what the connection tells comes from its loop's thread, the rest from any.
// Lifetime: shared by the connection, until the call is over, and by frames that are on their way.
class BulkCall final : public std::enable_shared_from_this<BulkCall>,
                       private CallWire,
                       public bulk::FrameSender::Waiter {
 public:
  // `service` outlives it.
  BulkCall(const ServiceContext& service, std::shared_ptr<BulkCallOwner> owner, uint64_t id,
           proto::BulkRequest request, std::chrono::milliseconds timeout, uint32_t credit);

  // Once, before all else. The call may be over when it returns.
  void Begin() { call_.Begin(); }
  // `payload` is read before this returns.
  void OnRequest(std::string_view payload);
  // False: more than a call may have.
  bool AddCredit(uint32_t bytes);
  // The caller does not wait any more, or is gone with its connection.
  void OnCancelled();
  // Its client takes nothing: the call ends, and its connection where that takes nothing either.
  void CutOff();

 private:
  // A message that is to go.
  struct Waiting {
    grpc::ByteBuffer message;
    std::optional<CallOutcome> outcome{};  // it is the last
    bool is_dropped = false;               // nobody wants it any more
  };

  std::string method() const override { return request_.method(); }
  std::string peer() const override { return bearer_->peer; }
  std::shared_ptr<ConnectionAccount> account() const override { return owner_->account(); }
  ServerTrust::Proof proof() const override { return bearer_->proof; }
  std::string traceparent() const override { return request_.traceparent(); }
  std::chrono::system_clock::time_point deadline() const override { return deadline_; }
  bool IsCancelled() const override { return cancelled_.load(std::memory_order_relaxed); }
  void Cancel() override;
  void StartRead(grpc::ByteBuffer* request) override;
  void StartWrite(const grpc::ByteBuffer* message) override;
  void StartWriteAndFinish(const grpc::ByteBuffer* message, const CallOutcome& outcome) override;
  void Finish(const CallOutcome& outcome) override;

  void OnSent(bool ok) override;

  void Write(Waiting what);
  void SendNow(Waiting what);
  void SendEnd(const CallOutcome& outcome, std::optional<grpc::ByteBuffer> message);

  const std::shared_ptr<BulkCallOwner> owner_;
  const std::shared_ptr<const BulkTickets::Bearer> bearer_;
  const uint64_t id_;
  const proto::BulkRequest request_;
  const std::chrono::system_clock::time_point deadline_;
  std::atomic<bool> cancelled_{false};
  // The loop's thread's, until the request is there.
  grpc::ByteBuffer* wanted_ = nullptr;
  bool had_request_ = false;
  bool is_ending_ = false;  // what is on its way is the last; of who sends
  Mutex mu_;
  int64_t credit_ ABSL_GUARDED_BY(mu_);
  bool gone_ ABSL_GUARDED_BY(mu_) = false;               // cancelled: nothing waits any more
  std::optional<Waiting> waiting_ ABSL_GUARDED_BY(mu_);  // for credit
  ServedCall call_;                                      // last: it asks all above
};

}  // namespace vicinity
