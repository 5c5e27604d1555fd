#include "tests/integration/listed_methods.h"

#include <google/protobuf/descriptor.pb.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>

#include <chrono>
#include <cstdint>

#include "proto/common/grpc_status.h"
#include "proto/common/status.h"
#include "proto/reflection.pb.h"

namespace vicinity::testing {
namespace {

using grpc::reflection::v1alpha::ServerReflectionRequest;
using grpc::reflection::v1alpha::ServerReflectionResponse;

constexpr char kReflection[] = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";

// A stream in which `request` is sent and one reply is read.
absl::StatusOr<std::string> Exchange(const std::shared_ptr<grpc::Channel>& channel,
                                     const std::string& method, const std::string& request) {
  grpc::GenericStub stub(channel);
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  const auto call = stub.PrepareCall(&context, method, &queue);
  // Every step is waited for; those after a failed one fail, too, and the end tells why.
  const auto wait = [&queue] {
    void* tag = nullptr;
    bool ok = false;
    return queue.Next(&tag, &ok) && ok;
  };
  call->StartCall(nullptr);
  wait();
  const grpc::Slice slice(request);
  call->WriteLast(grpc::ByteBuffer(&slice, 1), grpc::WriteOptions(), nullptr);
  wait();
  grpc::ByteBuffer first;
  call->Read(&first, nullptr);
  const bool answered = wait();
  grpc::ByteBuffer rest;
  for (bool more = answered; more;) {
    call->Read(&rest, nullptr);
    more = wait();
  }
  grpc::Status status;
  call->Finish(&status, nullptr);
  wait();
  queue.Shutdown();
  VICINITY_RETURN_IF_ERROR(FromGrpc(status));
  grpc::Slice bytes;
  if (!answered || !first.DumpToSingleSlice(&bytes).ok()) return std::string();
  return std::string(reinterpret_cast<const char*>(bytes.begin()), bytes.size());
}

absl::StatusOr<ServerReflectionResponse> Ask(const std::shared_ptr<grpc::Channel>& channel,
                                             const ServerReflectionRequest& request) {
  VICINITY_ASSIGN_OR_RETURN(const std::string bytes,
                            Exchange(channel, kReflection, request.SerializeAsString()));
  ServerReflectionResponse reply;
  if (!reply.ParseFromString(bytes)) return absl::DataLossError("not a reply of reflection");
  return reply;
}

absl::Status AddMethodsOf(const std::shared_ptr<grpc::Channel>& channel, const std::string& name,
                          std::vector<std::string>* methods) {
  ServerReflectionRequest request;
  request.set_file_containing_symbol(name);
  VICINITY_ASSIGN_OR_RETURN(const ServerReflectionResponse reply, Ask(channel, request));
  const size_t before = methods->size();
  for (const std::string& bytes : reply.file_descriptor_response().file_descriptor_proto()) {
    google::protobuf::FileDescriptorProto file;
    if (!file.ParseFromString(bytes)) return absl::DataLossError("not a file descriptor");
    for (const auto& service : file.service()) {
      if (file.package() + "." + service.name() != name) continue;
      for (const auto& method : service.method()) {
        methods->push_back("/" + name + "/" + method.name());
      }
    }
  }
  if (methods->size() > before) return absl::OkStatus();
  return absl::NotFoundError("reflection tells no methods of " + name);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ListMethods(
    const std::shared_ptr<grpc::Channel>& channel) {
  ServerReflectionRequest request;
  request.set_list_services("*");
  VICINITY_ASSIGN_OR_RETURN(const ServerReflectionResponse reply, Ask(channel, request));
  std::vector<std::string> methods;
  for (const auto& service : reply.list_services_response().service()) {
    VICINITY_RETURN_IF_ERROR(AddMethodsOf(channel, service.name(), &methods));
  }
  return methods;
}

absl::Status CallByName(const std::shared_ptr<grpc::Channel>& channel, const std::string& method) {
  return Exchange(channel, method, "").status();
}

}  // namespace vicinity::testing
