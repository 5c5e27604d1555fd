// absl::Status to and from grpc::Status: the two share their codes.
#pragma once

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace vicinity {

// A text that is longer than 2,000 bytes is cut: it travels in a header, of which gRPC takes 8 KiB,
// three for some bytes, and where it is too long not this call alone fails, but the next one too.
grpc::Status ToGrpc(const absl::Status& status);

// A code that gRPC does not define becomes Unknown with the number in the text.
absl::Status FromGrpc(const grpc::Status& status);

}  // namespace vicinity
