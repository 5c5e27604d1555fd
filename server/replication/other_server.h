// Another server of a shard, as the one that writes the shard calls it.
#pragma once

#include <grpcpp/security/credentials.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/service.pb.h"

namespace vicinity {

// Threads:  one may call; Cancel from any.
// Lifetime: the call must be over before it goes.
class OtherServer {
 public:
  virtual ~OtherServer() = default;

  virtual const std::string& name() const = 0;
  // Waits for the answer, `limit` at most. Errors name server and address: what it answers,
  // Aborted for what was damaged on the way, Unavailable, DeadlineExceeded.
  virtual absl::StatusOr<proto::ReplicateReply> Replicate(proto::ReplicateRequest request,
                                                          absl::Duration limit) = 0;
  // Ends the call that runs, if one does, and all later ones at once.
  virtual void Cancel() = 0;
};

// `address`: host:port. A connection of its own, made when it is first used, and again whenever it
// is gone.
std::unique_ptr<OtherServer> ConnectToServer(
    const std::string& name, const std::string& address,
    const std::shared_ptr<grpc::ChannelCredentials>& credentials);

}  // namespace vicinity
