// One address where calls come in: connections through a guarded acceptor, calls through the one
// service, gRPC between them.
#pragma once

#include <grpcpp/security/server_credentials.h>

#include <chrono>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "proto/cluster/cluster_file.h"
#include "server/calls/service_context.h"
#include "server/connections/connection_acceptor.h"
#include "server/connections/connection_guard.h"

namespace vicinity {

struct PortLimits {
  int64_t memory_bytes = 0;  // that gRPC may have for it
  int max_request_bytes = 0;
  // Calls of a connection at once. Each stream costs gRPC 20 KiB before we are told of it.
  int max_streams = 100;
  ConnectionLimits connections;
};

// Threads: any may call any method, Stop and the destructor one.
class GuardedPort {
 public:
  // Listens, but takes no connection yet. `context` is to outlive it and gets the port's guard.
  // Errors as CheckListenAddress; Unavailable, with the reason, if the address cannot be had.
  static absl::StatusOr<std::unique_ptr<GuardedPort>> Listen(
      const HostPort& listen, const PortLimits& limits,
      const std::shared_ptr<grpc::ServerCredentials>& credentials, ServiceContext* context);
  ~GuardedPort();  // stops, at once
  GuardedPort(const GuardedPort&) = delete;
  GuardedPort& operator=(const GuardedPort&) = delete;

  void Start();
  void StopListening();
  // Calls that are under way may go on until `deadline`, then they are ended. Waits for them.
  void Stop(std::chrono::system_clock::time_point deadline);

  const HostPort& address() const;  // with the port that was picked
  ConnectionAcceptor* connections();

 private:
  class Impl;
  explicit GuardedPort(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace vicinity
