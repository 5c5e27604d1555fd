#include "client/cli/flags/servers_flags.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/cli/output/exit_code.h"
#include "proto/common/file.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

TEST_CASE("servers are those of the cluster file, or those named", "[cli]") {
  const testing::TempDir folder;
  ServersFlags flags;
  flags.cluster = folder.File("c.textproto");
  VICINITY_REQUIRE_OK(WriteFileAtomically(
      flags.cluster,
      "data: 'g' num_shards: 2\n"
      "servers { name: 'a' listen: '127.0.0.1:7500' shards: 0 }\n"
      "servers { name: 'b' listen: '0.0.0.0:7501' advertise: 'b.example:7501' shards: 1 }\n"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<ServerTarget> targets, TargetsOf(flags));
  REQUIRE(targets.size() == 2);
  CHECK(targets[0].name == "a");
  CHECK(targets[0].address == "127.0.0.1:7500");
  CHECK(targets[1].address == "b.example:7501");

  ServersFlags named;
  named.addresses = {"host:1", "[::1]:2"};
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<ServerTarget> two, TargetsOf(named));
  REQUIRE(two.size() == 2);
  CHECK(two[1].address == "[::1]:2");
}

TEST_CASE("servers that nobody can ask are refused", "[cli]") {
  const testing::TempDir folder;
  VICINITY_CHECK_CODE(TargetsOf({}), absl::StatusCode::kInvalidArgument);
  ServersFlags flags;
  flags.addresses = {"host"};
  VICINITY_CHECK_CODE(TargetsOf(flags), absl::StatusCode::kInvalidArgument);
  flags.addresses = {"host:1"};
  flags.timeout_seconds = GENERATE(0.0, -1.0, 4000.0);
  VICINITY_CHECK_CODE(TargetsOf(flags), absl::StatusCode::kInvalidArgument);
  ServersFlags missing;
  missing.cluster = folder.File("nothing");
  VICINITY_CHECK_CODE(TargetsOf(missing), absl::StatusCode::kNotFound);
  missing.cluster = folder.File("c.textproto");
  VICINITY_REQUIRE_OK(WriteFileAtomically(
      missing.cluster,
      "data: 'g' num_shards: 1 servers { name: 'a' listen: '127.0.0.1:0' shards: 0 }"));
  VICINITY_CHECK_CODE(TargetsOf(missing), absl::StatusCode::kInvalidArgument);
}

TEST_CASE("admin addresses are those that the cluster file has", "[cli]") {
  const testing::TempDir folder;
  ServersFlags flags;
  flags.cluster = folder.File("c.textproto");
  const std::string a = "data: 'g' num_shards: 2 servers { name: 'a' listen: 'h:1' shards: 0 } ";
  const std::string b = "servers { name: 'b' listen: 'h:2' shards: 1 ";
  VICINITY_REQUIRE_OK(WriteFileAtomically(flags.cluster, a + b + "admin: 'h:9' }"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<ServerTarget> targets, AdminTargetsOf(flags));
  REQUIRE(targets.size() == 1);
  CHECK(targets[0].name == "b");
  CHECK(targets[0].address == "h:9");
  VICINITY_REQUIRE_OK(WriteFileAtomically(flags.cluster, a + b + "}"));
  VICINITY_CHECK_CODE(AdminTargetsOf(flags), absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("missing answers degrade, and none at all is no connection", "[cli]") {
  const std::vector<ServerTarget> targets = {{"a", "h:1"}, {"b", "h:2"}};
  const absl::Status gone = absl::UnavailableError("refused");
  CHECK(ExitCodeOf(OutcomeOf(targets, {absl::OkStatus(), absl::OkStatus()})) == ExitCode::kOk);
  const absl::Status some = OutcomeOf(targets, {absl::OkStatus(), gone});
  CHECK(ExitCodeOf(some) == ExitCode::kDegraded);
  CHECK_THAT(std::string(some.message()), Catch::Contains("b (h:2): refused"));
  CHECK(ExitCodeOf(OutcomeOf(targets, {gone, gone})) == ExitCode::kNotConnected);
  const absl::Status denied = absl::PermissionDeniedError("no");
  const absl::Status unknown = absl::UnauthenticatedError("who?");
  CHECK(ExitCodeOf(OutcomeOf(targets, {denied, unknown})) == ExitCode::kDenied);
  CHECK_THAT(std::string(OutcomeOf(targets, {denied, unknown}).message()),
             Catch::StartsWith("2 of 2 servers refused: a (h:1): no; b (h:2): who?"));
  CHECK(ExitCodeOf(OutcomeOf(targets, {denied, gone})) == ExitCode::kNotConnected);
}

TEST_CASE("a table tells who refused from who is not there", "[cli]") {
  const auto absence = [](const absl::Status& error) { return std::string(AbsenceOf(error)); };
  CHECK(absence(absl::UnavailableError("")) == "no answer");
  CHECK(absence(absl::DeadlineExceededError("")) == "no answer");
  CHECK(absence(absl::PermissionDeniedError("")) == "refused");
  CHECK(absence(absl::UnauthenticatedError("")) == "refused");
  CHECK(absence(absl::FailedPreconditionError("another call runs")) == "failed");
}

}  // namespace
}  // namespace vicinity::cli
