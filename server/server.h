// A running server: a dataset's shards, mapped, behind an address.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/cluster/cluster_file.h"
#include "server/server_options.h"

namespace vicinity {

// Threads:  any thread may call any method; Stop from one at a time.
// Lifetime: the destructor stops it with no time for calls to end, in bounded time.
class Server {
 public:
  // Serves when it returns: the health service says SERVING for "", "vicinity.proto.Graph" and
  // "live". In no time that depends on the size of the data.
  //
  // InvalidArgument for an address that is none of this host's, or that the security does not
  // suffice for; Unavailable for a port in use; FailedPrecondition for another number of shards
  // than expected; what ServerTrust::Load says of the security, and Dataset::Open of the data.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  const HostPort& address() const;        // with the port that was picked
  const HostPort* admin_address() const;  // null: no admin RPCs
  const HostPort* http_address() const;   // null: neither metrics nor the status page
  // For people: "serving shards 0,1 of wordnet on 127.0.0.1:7500".
  std::string Describe() const;

  // Reads the access file again. On an error, which names the file, the old one stays in force.
  absl::Status ReloadCredentials();

  // Says NOT_SERVING, leaves half of `drain` but at most `announce` for clients to hear it, closes
  // the listener and lets calls end until `drain` is over; then cancels them. Further calls do
  // nothing.
  void Stop(absl::Duration drain);

 private:
  class Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace vicinity
