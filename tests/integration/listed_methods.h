// All methods of a server, as gRPC's reflection lists them.
#pragma once

#include <grpcpp/channel.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace vicinity::testing {

// Paths such as "/vicinity.proto.Graph/Hello", of every service. What the server says instead if
// it refuses.
absl::StatusOr<std::vector<std::string>> ListMethods(const std::shared_ptr<grpc::Channel>& channel);

// Calls a method with an empty message, whatever its kind, and returns what the call ends with.
absl::Status CallByName(const std::shared_ptr<grpc::Channel>& channel, const std::string& method);

}  // namespace vicinity::testing
