// The admin RPCs (proto/admin.proto) behind an address of their own, apart from the data's: their
// threads, memory and port are theirs, so that a server swamped with reads still listens to those
// who run it.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "proto/cluster/cluster_file.h"
#include "server/calls/admin_operations.h"
#include "server/health/serving_states.h"
#include "server/security/credentials.h"

namespace vicinity {

// Threads:  any may call any method.
// Lifetime: the destructor ends calls that are under way; what `actions` use, `trust` and `serving`
//           (what health checks are told) outlive it.
class AdminServer {
 public:
  // Answers when it returns. Errors as CheckListenAddress.
  static absl::StatusOr<std::unique_ptr<AdminServer>> Start(const HostPort& listen,
                                                            const ServerTrust* trust,
                                                            ServingStates* serving,
                                                            AdminActions actions);
  ~AdminServer();
  AdminServer(const AdminServer&) = delete;
  AdminServer& operator=(const AdminServer&) = delete;

  static int num_threads();  // beside gRPC's

  const HostPort& address() const;  // with the port that was picked

 private:
  class Impl;
  explicit AdminServer(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace vicinity
