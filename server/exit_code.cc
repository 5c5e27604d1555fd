#include "server/exit_code.h"

#include "proto/common/last_words.h"

namespace vicinity {

int DaemonExitCode(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return 0;
    case absl::StatusCode::kInvalidArgument:
      return 2;
    case absl::StatusCode::kNotFound:
      return 3;
    case absl::StatusCode::kPermissionDenied:
      return 6;
    case absl::StatusCode::kFailedPrecondition:
      return 7;
    case absl::StatusCode::kDataLoss:
      return 65;
    case absl::StatusCode::kResourceExhausted:
      return kResourcesExitCode;
    default:
      return 1;
  }
}

}  // namespace vicinity
