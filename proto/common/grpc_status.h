// absl::Status to and from grpc::Status: the two share their codes, so nothing is lost.
#pragma once

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace vicinity {

grpc::Status ToGrpc(const absl::Status& status);

// A code that gRPC does not define becomes Unknown with the number in the text.
absl::Status FromGrpc(const grpc::Status& status);

}  // namespace vicinity
