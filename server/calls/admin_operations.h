// The RPCs of a server's admin port (proto/admin.proto).
#pragma once

#include <spdlog/logger.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/admin.pb.h"
#include "server/calls/operations.h"
#include "server/handlers/chunk_source.h"
#include "server/logging/log_ring.h"

namespace vicinity {

// What they do, by any thread. An empty one is Unimplemented.
struct AdminActions {
  std::string server;           // its name
  std::function<void()> drain;  // begins it, and returns; called once
  // Turns clients away, or takes them again. FailedPrecondition: the server ends.
  std::function<absl::Status(bool away)> turn_away;
  std::function<absl::StatusOr<proto::VerifyReply>(const proto::VerifyRequest& request,
                                                   IsGone is_gone)>
      verify;  // called by one at a time
  std::function<absl::StatusOr<proto::ReadFileReply>(const proto::ReadFileRequest& request)> read;
  std::function<absl::StatusOr<proto::ReloadCredentialsReply>()> reload;
  std::function<absl::StatusOr<proto::AppointReply>(const proto::AppointRequest& request)> appoint;
  std::function<absl::StatusOr<proto::SwapReply>(const proto::SwapRequest& request)> swap;
  std::function<absl::StatusOr<proto::TracesReply>(const proto::TracesRequest& request)> traces;
  std::shared_ptr<spdlog::logger> log;  // whose level is set
  std::shared_ptr<const LogRing> ring;  // shared with `log`
  std::vector<proto::FlagValue> flags;
};

// Of one port, what its calls have in common (ServerState::admin).
struct AdminState {
  explicit AdminState(AdminActions does) : actions(std::move(does)) {}

  const AdminActions actions;
  std::atomic<bool> verifies{false};
  std::atomic<bool> drains{false};
};

// Those of proto/admin.proto, the health service's Check, and reflection.
Operations AdminOperations();

}  // namespace vicinity
