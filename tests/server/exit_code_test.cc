#include "server/exit_code.h"

#include <catch2/catch.hpp>

#include "client/cli/output/exit_code.h"

namespace vicinity {
namespace {

TEST_CASE("what ends the daemon ends the tool with the same number", "[exit_code]") {
  const auto code = GENERATE(absl::StatusCode::kOk, absl::StatusCode::kInvalidArgument,
                             absl::StatusCode::kNotFound, absl::StatusCode::kPermissionDenied,
                             absl::StatusCode::kFailedPrecondition, absl::StatusCode::kDataLoss,
                             absl::StatusCode::kInternal);
  const absl::Status status(code, "fault");
  CHECK(DaemonExitCode(status) == static_cast<int>(cli::ExitCodeOf(status)));
}

TEST_CASE("what the machine refuses has a number of its own, and a port in use has none",
          "[exit_code]") {
  CHECK(DaemonExitCode(absl::ResourceExhaustedError("memory")) == 71);
  CHECK(DaemonExitCode(absl::UnavailableError("port")) == 1);
}

}  // namespace
}  // namespace vicinity
