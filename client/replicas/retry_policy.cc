#include "client/replicas/retry_policy.h"

namespace vicinity {

FailureKind KindOf(const absl::Status& failure, bool of_writer) {
  switch (failure.code()) {
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kAborted:
    // Of a server in order neither comes, but bits that flip on the way can make both.
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
      return FailureKind::kServer;
    case absl::StatusCode::kDataLoss:
      return FailureKind::kCopy;
    case absl::StatusCode::kResourceExhausted:
      return FailureKind::kBusy;
    case absl::StatusCode::kFailedPrecondition:
      return FailureKind::kOtherDataset;
    case absl::StatusCode::kUnimplemented:
      return of_writer ? FailureKind::kElsewhere : FailureKind::kCall;
    case absl::StatusCode::kOutOfRange:
      return FailureKind::kElsewhere;
    default:
      return FailureKind::kCall;
  }
}

std::chrono::nanoseconds RetryPolicy::MaxBackoff(int failures) const {
  std::chrono::nanoseconds wait = backoff_base;
  for (int i = 1; i < failures && wait < backoff_cap; ++i) wait *= 2;
  return wait < backoff_cap ? wait : backoff_cap;
}

}  // namespace vicinity
