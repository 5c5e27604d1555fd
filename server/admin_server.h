// The admin RPCs (proto/admin.proto) behind an address of their own, apart from the data's: their
// threads, memory and port are theirs, so that a server swamped with reads still listens to those
// who run it.
#pragma once

#include <grpcpp/security/server_credentials.h>
#include <spdlog/logger.h>

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "partition/cluster_file.h"
#include "proto/admin.pb.h"
#include "server/serving_states.h"

namespace vicinity {

// What the RPCs do, by any thread. An empty one is Unimplemented.
struct AdminActions {
  const ServingStates* serving = nullptr;  // what health checks are told; null: nothing is known
  std::string server;                      // its name
  std::function<void()> drain;             // begins it, and returns; called once
  // `gone` says whether the caller has left.
  std::function<absl::StatusOr<proto::VerifyReply>(const proto::VerifyRequest& request,
                                                   const std::function<bool()>& gone)>
      verify;
  std::function<absl::StatusOr<proto::ReadFileReply>(const proto::ReadFileRequest& request)> read;
  std::function<absl::StatusOr<proto::ReloadCredentialsReply>()> reload;
  std::shared_ptr<spdlog::logger> log;  // whose level is set; with the server
};

// Threads:  any may call any method.
// Lifetime: the destructor ends calls that are under way; what `actions` use outlives it.
class AdminServer {
 public:
  // Answers when it returns. Errors as CheckListenAddress.
  static absl::StatusOr<std::unique_ptr<AdminServer>> Start(
      const HostPort& listen, const std::shared_ptr<grpc::ServerCredentials>& credentials,
      AdminActions actions);
  ~AdminServer();
  AdminServer(const AdminServer&) = delete;
  AdminServer& operator=(const AdminServer&) = delete;

  const HostPort& address() const;  // with the port that was picked

 private:
  class Impl;
  explicit AdminServer(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace vicinity
