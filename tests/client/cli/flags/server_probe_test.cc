#include "client/cli/flags/server_probe.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/cli/flags/servers_flags.h"
#include "tests/integration/fixtures/silent_listener.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity::cli {
namespace {

constexpr absl::Duration kTimeout = absl::Seconds(30);

TEST_CASE("a running server answers each question", "[cli]") {
  const testing::SmallCluster cluster(testing::RandomGraph({}), 2, 1);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto status, AskStatus({"s0", cluster.address(0)}, kTimeout));
  CHECK(status.server() == "s0");
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto description,
                                AskDescribe({"s0", cluster.address(0)}, kTimeout));
  CHECK(description.fingerprint() == cluster.dataset().fingerprint());
  VICINITY_ASSERT_OK_AND_ASSIGN(const HealthAnswer health,
                                AskHealth({"s0", cluster.address(0)}, kTimeout));
  CHECK(health.health == "serving");
  CHECK(health.certificate_expires == absl::InfiniteFuture());
}

TEST_CASE("a stopped server is unavailable at once, a silent one at the deadline", "[cli]") {
  testing::SmallCluster cluster(testing::RandomGraph({}), 2, 1);
  cluster.Stop(0);
  VICINITY_CHECK_CODE(AskStatus({"s0", cluster.address(0)}, kTimeout),
                      absl::StatusCode::kUnavailable);
  VICINITY_CHECK_CODE(AskHealth({"s0", cluster.address(0)}, kTimeout),
                      absl::StatusCode::kUnavailable);

  const testing::SilentListener silent;
  const absl::Time begun = absl::Now();
  VICINITY_CHECK_CODE(AskDescribe({"s0", silent.address()}, absl::Milliseconds(100)),
                      absl::StatusCode::kDeadlineExceeded);
  CHECK(absl::Now() - begun < absl::Seconds(20));
}

TEST_CASE("all targets are asked, and answers are in their order", "[cli]") {
  std::vector<ServerTarget> targets;
  for (int i = 0; i < 100; ++i) targets.push_back({"", std::to_string(i)});
  const std::vector<absl::StatusOr<std::string>> answers =
      AskAll(targets, kTimeout, [](const ServerTarget& server, absl::Duration) {
        return absl::StatusOr<std::string>(server.address + "!");
      });
  REQUIRE(answers.size() == targets.size());
  for (size_t i = 0; i < answers.size(); ++i) CHECK(*answers[i] == targets[i].address + "!");
}

}  // namespace
}  // namespace vicinity::cli
