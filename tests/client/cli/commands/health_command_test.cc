#include "client/cli/commands/health_command.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/client/cli/run_command.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity::cli {
namespace {

TEST_CASE("a cluster is healthy when all servers are, and exit code 5 names who is not", "[cli]") {
  testing::SmallCluster cluster(testing::RandomGraph({}), 2, 2);
  const Answer good = RunCommand(kHealthCommand, {"--cluster", cluster.cluster_file()});
  CHECK(good.code == ExitCode::kOk);
  CHECK_THAT(good.out, Catch::Contains("serving"));

  cluster.Stop(1);
  const Answer bad =
      RunCommand(kHealthCommand, {"--cluster", cluster.cluster_file(), "--format=json"});
  CHECK(bad.code == ExitCode::kDegraded);
  CHECK_THAT(bad.narration, Catch::Contains("s1 (" + cluster.address(1)));
  CHECK_THAT(bad.narration, !Catch::Contains("s0"));
  const nlohmann::json found = nlohmann::json::parse(bad.out);
  CHECK(found["healthy"] == false);
  CHECK(found["servers"][0]["health"] == "serving");
  CHECK(found["servers"][1]["health"] == "no answer");

  cluster.Stop(0);
  CHECK(RunCommand(kHealthCommand, {"--server", cluster.address(0)}).code == ExitCode::kDegraded);
}

}  // namespace
}  // namespace vicinity::cli
