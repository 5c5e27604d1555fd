// One call of the health service's Watch: says how the server is now, and again whenever that
// changes.
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/support/byte_buffer.h>

#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "proto/common/mutex.h"
#include "server/admission/call_gate.h"
#include "server/calls/service_context.h"
#include "server/connections/connection_guard.h"
#include "server/health/serving_states.h"

namespace vicinity {

inline constexpr char kHealthWatchPath[] = "/grpc.health.v1.Health/Watch";

// Ends with its caller, with Unavailable when the server stops, or at once with what
// ServingStates::Watch says. A state that is followed by another before it could be sent is left
// out.
//
// Lifetime: deletes itself, after gRPC has let go of it.
class HealthWatch final : public grpc::ServerGenericBidiReactor, private ServingStates::Watcher {
 public:
  // `service` outlives it.
  HealthWatch(const ServiceContext& service, grpc::GenericCallbackServerContext* context);

 private:
  ~HealthWatch() = default;

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

  void OnState(std::optional<bool> is_serving) override;
  void OnEnd() override;

  std::string ClientName() const;
  void Write() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Once, as soon as no message is on its way.
  void End(const absl::Status& status);
  void FinishIfQuiet() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const ServiceContext& service_;
  grpc::GenericCallbackServerContext* const context_;
  const std::shared_ptr<ConnectionAccount> account_;
  CallGate::Passage passage_;  // only for waiting for the request
  grpc::ByteBuffer request_;
  bool had_request_ = false;

  Mutex mu_;
  bool is_writing_ ABSL_GUARDED_BY(mu_) = false;
  bool has_answered_ ABSL_GUARDED_BY(mu_) = false;
  bool has_news_ ABSL_GUARDED_BY(mu_) = false;
  std::optional<bool> is_serving_ ABSL_GUARDED_BY(mu_);
  grpc::ByteBuffer message_ ABSL_GUARDED_BY(mu_);
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mu_);
  bool is_finished_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace vicinity
