// Says what it is when a request is no message: gRPC 1.51 calls it an internal error of the server,
// without a word.
#pragma once

#include <grpcpp/support/server_interceptor.h>

#include <memory>
#include <vector>

namespace vicinity {

// For ServerBuilder. Calls whose request could not be parsed end with ABORTED, as those
// whose checksum is wrong: a client that knows what it sent may send it again.
std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>>
MakeParseErrorInterceptors();

}  // namespace vicinity
