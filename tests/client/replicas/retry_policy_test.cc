#include "client/replicas/retry_policy.h"

#include <catch2/catch.hpp>
#include <chrono>

#include "absl/status/status.h"

namespace vicinity {
namespace {

using std::chrono::milliseconds;

FailureKind KindOf(absl::StatusCode code) { return vicinity::KindOf(absl::Status(code, "")); }

TEST_CASE("what another replica may mend is told from what none can", "[retry_policy]") {
  CHECK(KindOf(absl::StatusCode::kUnavailable) == FailureKind::kServer);
  CHECK(KindOf(absl::StatusCode::kDeadlineExceeded) == FailureKind::kServer);
  CHECK(KindOf(absl::StatusCode::kAborted) == FailureKind::kServer);
  CHECK(KindOf(absl::StatusCode::kInternal) == FailureKind::kServer);
  CHECK(KindOf(absl::StatusCode::kUnknown) == FailureKind::kServer);
  CHECK(KindOf(absl::StatusCode::kDataLoss) == FailureKind::kCopy);
  CHECK(KindOf(absl::StatusCode::kResourceExhausted) == FailureKind::kBusy);
  CHECK(KindOf(absl::StatusCode::kFailedPrecondition) == FailureKind::kOtherDataset);
  for (const absl::StatusCode code :
       {absl::StatusCode::kInvalidArgument, absl::StatusCode::kNotFound,
        absl::StatusCode::kCancelled, absl::StatusCode::kPermissionDenied,
        absl::StatusCode::kUnauthenticated, absl::StatusCode::kUnimplemented}) {
    CHECK(KindOf(code) == FailureKind::kCall);
  }
}

TEST_CASE("of a live graph another server may have the version, or be the writer",
          "[retry_policy]") {
  const absl::Status out_of_range = absl::OutOfRangeError("");
  const absl::Status not_the_writer = absl::UnimplementedError("");
  CHECK(vicinity::KindOf(out_of_range, /*of_writer=*/false) == FailureKind::kElsewhere);
  // Of a write it is its session's: a writer that was cut off lacks what a later one has applied.
  CHECK(vicinity::KindOf(out_of_range, /*of_writer=*/true) == FailureKind::kElsewhere);
  CHECK(vicinity::KindOf(not_the_writer, /*of_writer=*/true) == FailureKind::kElsewhere);
  CHECK(vicinity::KindOf(not_the_writer, /*of_writer=*/false) == FailureKind::kCall);
}

TEST_CASE("waits double up to the cap", "[retry_policy]") {
  const RetryPolicy policy;
  CHECK(policy.MaxBackoff(1) == milliseconds(10));
  CHECK(policy.MaxBackoff(2) == milliseconds(20));
  CHECK(policy.MaxBackoff(7) == milliseconds(640));
  CHECK(policy.MaxBackoff(8) == milliseconds(1000));
  CHECK(policy.MaxBackoff(1000) == milliseconds(1000));
}

}  // namespace
}  // namespace vicinity
