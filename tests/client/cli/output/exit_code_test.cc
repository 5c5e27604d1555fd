#include "client/cli/output/exit_code.h"

#include <catch2/catch.hpp>

#include "absl/status/status.h"

namespace vicinity::cli {
namespace {

TEST_CASE("every kind of failure has its documented exit code", "[cli]") {
  CHECK(ExitCodeOf(absl::OkStatus()) == ExitCode::kOk);
  CHECK(ExitCodeOf(absl::InternalError("")) == ExitCode::kFailure);
  CHECK(ExitCodeOf(absl::ResourceExhaustedError("")) == ExitCode::kFailure);
  CHECK(ExitCodeOf(absl::InvalidArgumentError("")) == ExitCode::kUsage);
  CHECK(ExitCodeOf(absl::NotFoundError("")) == ExitCode::kNotFound);
  CHECK(ExitCodeOf(absl::UnavailableError("")) == ExitCode::kNotConnected);
  CHECK(ExitCodeOf(absl::DeadlineExceededError("")) == ExitCode::kNotConnected);
  CHECK(ExitCodeOf(absl::AbortedError("")) == ExitCode::kNotConnected);
  CHECK(ExitCodeOf(absl::UnauthenticatedError("")) == ExitCode::kDenied);
  CHECK(ExitCodeOf(absl::FailedPreconditionError("")) == ExitCode::kPrecondition);
  CHECK(ExitCodeOf(absl::AlreadyExistsError("")) == ExitCode::kPrecondition);
  CHECK(ExitCodeOf(absl::DataLossError("")) == ExitCode::kBadData);
}

TEST_CASE("exit codes are numbers that scripts rely on", "[cli]") {
  CHECK(static_cast<int>(ExitCode::kFailure) == 1);
  CHECK(static_cast<int>(ExitCode::kUsage) == 2);
  CHECK(static_cast<int>(ExitCode::kNotFound) == 3);
  CHECK(static_cast<int>(ExitCode::kNotConnected) == 4);
  CHECK(static_cast<int>(ExitCode::kDegraded) == 5);
  CHECK(static_cast<int>(ExitCode::kDenied) == 6);
  CHECK(static_cast<int>(ExitCode::kPrecondition) == 7);
  CHECK(static_cast<int>(ExitCode::kBadData) == 65);
}

TEST_CASE("a marked status ends the tool with its mark and keeps its text", "[cli]") {
  const absl::Status status =
      WithExitCode(absl::InvalidArgumentError("edges.tsv:7"), ExitCode::kBadData);
  CHECK(ExitCodeOf(status) == ExitCode::kBadData);
  CHECK(status.message() == "edges.tsv:7");
  CHECK(ExitCodeOf(WithExitCode(absl::OkStatus(), ExitCode::kBadData)) == ExitCode::kOk);
}

}  // namespace
}  // namespace vicinity::cli
