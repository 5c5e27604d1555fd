// Handler of reflection: which services the server has, and the files that describe them.
#pragma once

#include <google/protobuf/descriptor.h>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/reflection.pb.h"
#include "server/handlers/server_state.h"

namespace vicinity {

inline constexpr char kReflectPath[] =
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";

// What is told of a port that has the services of these files: always a reply, for what is not
// found is an error in it, as the protocol has it.
grpc::reflection::v1alpha::ServerReflectionResponse ReflectFiles(
    absl::Span<const google::protobuf::FileDescriptor* const> files,
    const grpc::reflection::v1alpha::ServerReflectionRequest& request);

// Of the data port.
absl::StatusOr<grpc::reflection::v1alpha::ServerReflectionResponse> Reflect(
    const ServerState& state, const grpc::reflection::v1alpha::ServerReflectionRequest& request);

}  // namespace vicinity
