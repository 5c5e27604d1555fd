#include "client/rpc/process_guard.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "absl/status/status.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

// What the claim gives in a forked child.
absl::StatusCode ClaimInChild() {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(static_cast<int>(ClaimProcessForRpc().code()));
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return static_cast<absl::StatusCode>(WEXITSTATUS(status));
}

TEST_CASE("a child may claim what its parent has not, and not what it has", "[process_guard]") {
  CHECK(ClaimInChild() == absl::StatusCode::kOk);
  VICINITY_CHECK_OK(ClaimProcessForRpc());
  VICINITY_CHECK_OK(ClaimProcessForRpc());
  CHECK(ClaimInChild() == absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace vicinity
