#include "client/types/error.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace vicinity {

Error ToError(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return Error();
    case absl::StatusCode::kCancelled:
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kUnauthenticated:
      return Error(static_cast<ErrorCode>(status.code()), std::string(status.message()));
    default:
      return Error(ErrorCode::kUnknown,
                   absl::StrCat(absl::StatusCodeToString(status.code()), ": ", status.message()));
  }
}

}  // namespace vicinity
