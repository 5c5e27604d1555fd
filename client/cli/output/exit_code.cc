#include "client/cli/output/exit_code.h"

#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"

namespace vicinity::cli {
namespace {

// Payload keys are URLs by Abseil's convention.
constexpr char kMark[] = "vicinity/exit_code";

}  // namespace

ExitCode ExitCodeOf(const absl::Status& status) {
  if (status.ok()) return ExitCode::kOk;
  if (const absl::optional<absl::Cord> mark = status.GetPayload(kMark)) {
    int code = 0;
    if (absl::SimpleAtoi(std::string(*mark), &code)) return static_cast<ExitCode>(code);
  }
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
      return ExitCode::kUsage;
    case absl::StatusCode::kNotFound:
      return ExitCode::kNotFound;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kAborted:
      return ExitCode::kNotConnected;
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
      return ExitCode::kDenied;
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kAlreadyExists:
      return ExitCode::kPrecondition;
    case absl::StatusCode::kDataLoss:
      return ExitCode::kBadData;
    default:
      return ExitCode::kFailure;
  }
}

absl::Status WithExitCode(absl::Status status, ExitCode code) {
  status.SetPayload(kMark, absl::Cord(absl::StrCat(static_cast<int>(code))));
  return status;
}

}  // namespace vicinity::cli
