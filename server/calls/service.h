// The service of one of a server's ports: all its RPCs, known and unknown, of its own and of gRPC's
// standard services, come through here.
//
// One generic service instead of generated ones, so that every call is seen from its first byte on:
// what nobody sees nobody can bound.
#pragma once

#include <grpcpp/generic/async_generic_service.h>

#include <memory>

#include "server/calls/service_context.h"

namespace vicinity {

// `context` outlives it. The log gets a line, at level debug, for every hello and for every call
// that fails.
std::unique_ptr<grpc::CallbackGenericService> MakeService(const ServiceContext* context);

}  // namespace vicinity
