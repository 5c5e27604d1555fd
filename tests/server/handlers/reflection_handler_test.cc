#include "server/handlers/reflection_handler.h"

#include <google/protobuf/descriptor.pb.h>

#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "proto/reflection.pb.h"
#include "server/handlers/server_state.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using grpc::reflection::v1alpha::ServerReflectionRequest;
using grpc::reflection::v1alpha::ServerReflectionResponse;

ServerReflectionResponse Ask(const ServerReflectionRequest& request) {
  VICINITY_ASSERT_OK_AND_ASSIGN(ServerReflectionResponse reply, Reflect(ServerState(), request));
  CHECK(reply.original_request().SerializeAsString() == request.SerializeAsString());
  return reply;
}

TEST_CASE("reflection names the services that are here", "[reflection_handler]") {
  ServerReflectionRequest request;
  request.set_list_services("*");
  std::set<std::string> names;
  const ServerReflectionResponse reply = Ask(request);
  for (const auto& service : reply.list_services_response().service()) {
    names.insert(service.name());
  }
  CHECK(names == std::set<std::string>{"vicinity.proto.Graph", "vicinity.proto.Bulk",
                                       "grpc.health.v1.Health",
                                       "grpc.reflection.v1alpha.ServerReflection"});
}

TEST_CASE("a service's files come with what they import, each once", "[reflection_handler]") {
  ServerReflectionRequest request;
  if (GENERATE(false, true)) {
    request.set_file_containing_symbol("vicinity.proto.Graph");
  } else {
    request.set_file_by_filename("vicinity/proto/service.proto");
  }
  std::set<std::string> names;
  bool has_service = false;
  const ServerReflectionResponse reply = Ask(request);
  for (const std::string& bytes : reply.file_descriptor_response().file_descriptor_proto()) {
    google::protobuf::FileDescriptorProto file;
    REQUIRE(file.ParseFromString(bytes));
    CHECK(names.insert(file.name()).second);
    for (const auto& service : file.service()) has_service |= service.name() == "Graph";
  }
  CHECK(has_service);
  CHECK(names.count("vicinity/proto/schema.proto") == 1);
}

TEST_CASE("what is not served here is not told of", "[reflection_handler]") {
  ServerReflectionRequest request;
  request.set_file_containing_symbol(
      GENERATE("vicinity.proto.Nothing", "google.protobuf.FileDescriptorProto", ""));
  CHECK(Ask(request).error_response().error_code() == 5);
  request.set_file_by_filename("/etc/passwd");
  CHECK(Ask(request).error_response().error_code() == 5);
  request.clear_message_request();
  CHECK(Ask(request).error_response().error_code() == 12);
}

}  // namespace
}  // namespace vicinity
