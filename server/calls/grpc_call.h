// A call of gRPC's: the wire of a ServedCall, over its callback interface.
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/support/byte_buffer.h>

#include <chrono>
#include <memory>
#include <string>

#include "server/calls/call_wire.h"
#include "server/calls/served_call.h"
#include "server/calls/service_context.h"
#include "server/connections/connection_guard.h"
#include "server/security/credentials.h"

namespace vicinity {

// Lifetime: deletes itself, after gRPC has let go of it. `service` outlives it.
class GrpcCall final : public grpc::ServerGenericBidiReactor, private CallWire {
 public:
  GrpcCall(const ServiceContext& service, grpc::GenericCallbackServerContext* context);

 private:
  ~GrpcCall() override = default;

  // gRPC's events.
  void OnReadDone(bool ok) override { call_.OnReadDone(ok); }
  void OnWriteDone(bool ok) override { call_.OnWriteDone(ok); }
  void OnCancel() override { call_.OnCancel(); }
  void OnDone() override;

  std::string method() const override { return context_->method(); }
  std::string peer() const override { return context_->peer(); }
  std::shared_ptr<ConnectionAccount> account() const override;
  ServerTrust::Proof proof() const override { return ServerTrust::ProofOf(*context_); }
  std::string traceparent() const override;
  std::chrono::system_clock::time_point deadline() const override { return context_->deadline(); }
  bool IsCancelled() const override { return context_->IsCancelled(); }
  void Cancel() override { context_->TryCancel(); }
  void StartRead(grpc::ByteBuffer* request) override;
  void StartWrite(const grpc::ByteBuffer* message) override;
  void StartWriteAndFinish(const grpc::ByteBuffer* message, const CallOutcome& outcome) override;
  void Finish(const CallOutcome& outcome) override;

  grpc::Status StatusOf(const CallOutcome& outcome);

  const ServiceContext& service_;
  grpc::GenericCallbackServerContext* const context_;
  ServedCall call_;  // last: it asks all above
};

}  // namespace vicinity
