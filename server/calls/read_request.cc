#include "server/calls/read_request.h"

#include <grpcpp/support/proto_buffer_reader.h>

#include <optional>

#include "absl/strings/str_cat.h"
#include "proto/common/status.h"
#include "proto/wire_parts.h"

namespace vicinity {
namespace {

absl::Status CheckParts(absl::string_view method, const google::protobuf::Descriptor& type,
                        grpc::ByteBuffer* bytes) {
  grpc::ProtoBufferReader reader(bytes);
  if (!reader.status().ok()) return UnreadableRequest();
  const std::optional<WireParts> found = CountWireParts(
      type, static_cast<int64_t>(bytes->Length()), {kMaxRequestParts, kMaxRequestNumbers}, &reader);
  if (!found.has_value()) return UnreadableRequest();
  if (found->parts > kMaxRequestParts) {
    return absl::InvalidArgumentError(absl::StrCat(method, ": the request has ", found->parts,
                                                   " parts or more, the limit is ",
                                                   kMaxRequestParts));
  }
  if (found->numbers > kMaxRequestNumbers) {
    return absl::InvalidArgumentError(absl::StrCat(method, ": the request has ", found->numbers,
                                                   " numbers in lists or more, the limit is ",
                                                   kMaxRequestNumbers));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadRequest(absl::string_view method, grpc::ByteBuffer* bytes,
                         google::protobuf::Message* request) {
  VICINITY_RETURN_IF_ERROR(CheckParts(method, *request->GetDescriptor(), bytes));
  grpc::ProtoBufferReader reader(bytes);
  if (!reader.status().ok() || !request->ParseFromZeroCopyStream(&reader)) {
    return UnreadableRequest();
  }
  bytes->Clear();
  return absl::OkStatus();
}

absl::Status UnreadableRequest() {
  return absl::AbortedError(
      "the request cannot be parsed: damaged on the way, compressed, or of another protocol");
}

}  // namespace vicinity
