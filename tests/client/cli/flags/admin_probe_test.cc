#include "client/cli/flags/admin_probe.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/client/cli/admin_site.h"
#include "tests/testing/status_checks.h"

namespace vicinity::cli {
namespace {

TEST_CASE("admin addresses stand beside those for data, where the file has them", "[flags]") {
  std::vector<proto::FlagValue> flag(1);
  flag[0].set_name("--max-calls");
  testing::AdminSite site(flag);
  ServersFlags flags;
  flags.cluster = site.cluster();
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<ServerTarget> targets, TargetsOf(flags));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<ServerTarget> admins,
                                AdminTargetsBeside(flags, targets));
  REQUIRE(admins.size() == 3);
  CHECK(admins[0].name == "a");
  CHECK(admins[0].address == site.server().admin_address()->ToString());
  CHECK(admins[1].address == "127.0.0.1:1");
  CHECK(admins[2].address == "");

  const absl::Duration timeout = absl::Seconds(20);
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::ConfigReply config, AskConfig(admins[0], timeout));
  CHECK(config.flags(0).name() == "--max-calls");
  site.log()->info("line");
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::LogsReply logs,
                                AskLogs(admins[0], timeout, proto::LogsRequest()));
  CHECK(logs.lines(logs.lines_size() - 1).text() == "line");
  VICINITY_CHECK_CODE(AskConfig(admins[1], timeout), absl::StatusCode::kUnavailable);
  VICINITY_CHECK_CODE(AskConfig(admins[2], timeout), absl::StatusCode::kFailedPrecondition);
  VICINITY_CHECK_CODE(AskLogs(admins[2], timeout, proto::LogsRequest()),
                      absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("of a server that is named by its address nobody knows the admin port", "[flags]") {
  ServersFlags flags;
  flags.addresses = {"127.0.0.1:1"};
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<ServerTarget> targets, TargetsOf(flags));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<ServerTarget> admins,
                                AdminTargetsBeside(flags, targets));
  REQUIRE(admins.size() == 1);
  CHECK(admins[0].address == "");
}

}  // namespace
}  // namespace vicinity::cli
