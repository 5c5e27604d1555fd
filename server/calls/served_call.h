// One call of any method but a watch, from its first byte to its last, whatever carries it.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/admission/call_counters.h"
#include "server/admission/call_gate.h"
#include "server/admission/worker_pool.h"
#include "server/calls/call_trace.h"
#include "server/calls/call_wire.h"
#include "server/calls/operations.h"
#include "server/calls/service_context.h"
#include "server/connections/connection_guard.h"
#include "server/handlers/chunk_source.h"
#include "server/handlers/server_state.h"
#include "server/security/credentials.h"

namespace vicinity {

// No thread belongs to it: its wire's threads bring its request and tell when a message is gone,
// the gate says when it may go on, and a worker makes each message of its reply. A small reply is
// made by the thread that brought the request (WorkerPool::RunBrief).
//
//   reading --request--> entering --its turn--> making and sending messages
//      |                    |                        |
//      +--caller gone,------+--refused---------------+--last message, error, caller gone--> over
//         not allowed, not to be read
//
// While it reads exactly one event comes next, and it is that which ends the call if it must. While
// it waits for its turn, that and the caller's going away may come at once: the gate decides which
// it was (CallGate::Passage::Abandon). Once it has its turn a worker makes one message while the
// one before is on its way; who comes last, the worker with a message or the wire with the word
// that the other is gone, goes on (progress_).
//
// Lifetime: its wire's, which it is part of, and which keeps it until OnDone; after an event that
//           ends it, it may be gone. Memory: some hundred bytes beside the wire's own and the
//           request's, and two messages of the reply.
class ServedCall final : private WorkerPool::Task {
 public:
  // `service` and `wire` outlive it.
  ServedCall(const ServiceContext& service, CallWire* wire);
  ServedCall(const ServedCall&) = delete;
  ServedCall& operator=(const ServedCall&) = delete;

  // Once, before all else: asks for the request, or ends.
  void Begin();

  // What the wire tells. One at a time, but for OnCancel: the caller is gone, or its deadline over.
  void OnReadDone(bool ok);
  void OnWriteDone(bool ok);
  void OnCancel();
  void OnDone();  // the last

 private:
  void Run() override;  // when it is its turn

  bool IsOver() const;
  void Enter();
  CallGate::Passage::Wish MakeWish() const;
  absl::Status MakeMessage();
  void Send();
  void GoOn();
  void End(CallEnd end, const absl::Status& status);
  void EndRefused();
  CallOutcome Note(CallEnd end, const absl::Status& status);
  std::string TraceText() const;

  const ServiceContext& service_;
  CallWire* const wire_;
  const Operation* const operation_;  // null: no such method
  const std::string peer_;            // as gRPC writes it
  const std::shared_ptr<ConnectionAccount> account_;
  ServerTrust::Identity identity_;            // who is proven to make it
  std::shared_ptr<const ServerState> state_;  // by which it is answered; null until it is known
  CallGate::Passage passage_;
  std::optional<CallCounters::Running> counted_;  // once its request is there
  CallTrace trace_;
  bool had_request_ = false;
  bool has_begun_ = false;  // the request is checked
  grpc::ByteBuffer request_;
  std::unique_ptr<Exchange> exchange_;
  // What is between the worker and the wire, as bits. Whoever finds the other's bit gone has the
  // call for itself; whoever has left its own touches nothing any more.
  enum : int { kMaking = 1, kSending = 2, kLost = 4 };
  std::atomic<int> progress_{kMaking};
  Exchange::Message made_;    // the worker's, or of who goes on
  absl::Status made_status_;  // likewise: why there is none
  Piece piece_ = Piece::kNothing;
  Exchange::Message sending_;  // the wire's
  CallEnd end_ = CallEnd::kUseless;
};

}  // namespace vicinity
