#include "server/handlers/reflection_handler.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "proto/bulk.pb.h"
#include "proto/health.pb.h"
#include "proto/service.pb.h"

namespace vicinity {
namespace {

using google::protobuf::FileDescriptor;
using grpc::reflection::v1alpha::FileDescriptorResponse;
using grpc::reflection::v1alpha::ServerReflectionRequest;
using grpc::reflection::v1alpha::ServerReflectionResponse;

using Files = absl::Span<const FileDescriptor* const>;

// A file and whatever it imports, each once.
void AddFile(const FileDescriptor* file, std::set<const FileDescriptor*>* added,
             FileDescriptorResponse* reply) {
  if (!added->insert(file).second) return;
  google::protobuf::FileDescriptorProto copy;
  file->CopyTo(&copy);
  *reply->add_file_descriptor_proto() = copy.SerializeAsString();
  for (int i = 0; i < file->dependency_count(); ++i) AddFile(file->dependency(i), added, reply);
}

bool IsWithin(const FileDescriptor* file, const FileDescriptor* wanted) {
  if (file == wanted) return true;
  for (int i = 0; i < file->dependency_count(); ++i) {
    if (IsWithin(file->dependency(i), wanted)) return true;
  }
  return false;
}

void Tell(Files files, const FileDescriptor* found, const std::string& asked,
          ServerReflectionResponse* reply) {
  bool known = false;
  for (const FileDescriptor* file : files) known = known || (found && IsWithin(file, found));
  if (!known) {
    reply->mutable_error_response()->set_error_code(static_cast<int>(absl::StatusCode::kNotFound));
    reply->mutable_error_response()->set_error_message(absl::StrCat(asked, " is not here"));
    return;
  }
  std::set<const FileDescriptor*> added;
  AddFile(found, &added, reply->mutable_file_descriptor_response());
}

}  // namespace

absl::StatusOr<ServerReflectionResponse> Reflect(const ServerState&,
                                                 const ServerReflectionRequest& request) {
  const FileDescriptor* const files[] = {
      proto::RowsRequest::descriptor()->file(),
      proto::OpenBulkRequest::descriptor()->file(),
      grpc::health::v1::HealthCheckRequest::descriptor()->file(),
      ServerReflectionRequest::descriptor()->file(),
  };
  return ReflectFiles(files, request);
}

ServerReflectionResponse ReflectFiles(Files files, const ServerReflectionRequest& request) {
  ServerReflectionResponse reply;
  reply.set_valid_host(request.host());
  *reply.mutable_original_request() = request;
  const auto* const pool = google::protobuf::DescriptorPool::generated_pool();
  switch (request.message_request_case()) {
    case ServerReflectionRequest::kListServices:
      for (const FileDescriptor* file : files) {
        for (int i = 0; i < file->service_count(); ++i) {
          reply.mutable_list_services_response()->add_service()->set_name(
              file->service(i)->full_name());
        }
      }
      break;
    case ServerReflectionRequest::kFileByFilename:
      Tell(files, pool->FindFileByName(request.file_by_filename()), request.file_by_filename(),
           &reply);
      break;
    case ServerReflectionRequest::kFileContainingSymbol:
      Tell(files, pool->FindFileContainingSymbol(request.file_containing_symbol()),
           request.file_containing_symbol(), &reply);
      break;
    case ServerReflectionRequest::MESSAGE_REQUEST_NOT_SET:
      reply.mutable_error_response()->set_error_code(
          static_cast<int>(absl::StatusCode::kUnimplemented));
      reply.mutable_error_response()->set_error_message("no question that is known here");
      break;
  }
  return reply;
}

}  // namespace vicinity
