// Where a server's bulk channel is reached: over TCP, through a guarded acceptor, and over a Unix
// socket, for clients on the same host.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "proto/security/tls_sessions.h"
#include "proto/telemetry/registry.h"
#include "server/bulk/bulk_options.h"
#include "server/calls/service_context.h"
#include "server/connections/connection_guard.h"
#include "server/security/bulk_tickets.h"

namespace vicinity {

// Threads:  some of its own, for each eight cores one, which read all connections and wait for
//           none; any thread may call any method, Stop and the destructor one.
// Lifetime: `service` outlives it, and so do its gate and workers.
class BulkPort {
 public:
  // Listens, but takes no connection yet. `tls`, if there is any, is for TCP; what is on a Unix
  // socket never leaves the host. Errors as ConnectionAcceptor::Listen and CheckListenAddress;
  // Unavailable, with what the system said, if there is no Unix socket.
  static absl::StatusOr<std::unique_ptr<BulkPort>> Listen(const BulkOptions& options,
                                                          const ConnectionLimits& limits,
                                                          const ServiceContext* service,
                                                          std::unique_ptr<TlsSessions> tls);
  ~BulkPort();  // stops, at once
  BulkPort(const BulkPort&) = delete;
  BulkPort& operator=(const BulkPort&) = delete;

  static int num_threads();

  BulkTickets* tickets();
  std::string Describe() const;  // for people: "bulk on port 7510 and a Unix socket"

  void Start();
  // Refuses connections, and calls on those that there are, but for what is under way.
  void StopListening();
  // Calls that are under way may go on until `deadline`, then they are ended. Waits for them.
  void Stop(std::chrono::system_clock::time_point deadline);

  // Where it is; connections, by socket, and tickets that were refused. It must outlive the group.
  void AddMetrics(MetricRegistry::Group* group) const;
  int64_t num_connections() const;

 private:
  class Impl;
  explicit BulkPort(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace vicinity
