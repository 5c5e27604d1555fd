#include "proto/common/grpc_status.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace vicinity {
namespace {

constexpr size_t kMostBytes = 2000;

}  // namespace

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  std::string text(status.message().substr(0, kMostBytes));
  if (text.size() < status.message().size()) text += " ...";
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), text);
}

absl::Status FromGrpc(const grpc::Status& status) {
  const int code = status.error_code();
  if (code < 0 || code > static_cast<int>(absl::StatusCode::kUnauthenticated)) {
    return absl::UnknownError(absl::StrCat("gRPC status ", code, ": ", status.error_message()));
  }
  const auto same_code = static_cast<absl::StatusCode>(code);
  // gRPC itself answers some calls, of a method that it does not know for one, with a code alone.
  return absl::Status(same_code, status.error_message().empty()
                                     ? absl::StatusCodeToString(same_code)
                                     : status.error_message());
}

}  // namespace vicinity
