#include "client/cli/commands/health_command.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

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

TEST_CASE("it waits until all serve, and says for whom", "[cli]") {
  testing::SmallCluster cluster(testing::RandomGraph({}), 2, 2);
  const std::vector<std::string> args = {"--cluster", cluster.cluster_file(), "--wait"};
  const auto with = [&args](const std::string& seconds) {
    std::vector<std::string> all = args;
    all.push_back(seconds);
    return RunCommand(kHealthCommand, all);
  };
  // All serve: no time is spent.
  const Answer well = with("3600");
  CHECK(well.code == ExitCode::kOk);
  CHECK(well.narration.empty());

  cluster.Stop(1);
  const Answer over = with("0.2");
  CHECK(over.code == ExitCode::kDegraded);
  CHECK_THAT(over.narration, Catch::Contains("waiting for s1 ("));

  Answer waited;
  std::thread waits([&] { waited = with("120"); });
  cluster.Restart(1);
  waits.join();
  CHECK(waited.code == ExitCode::kOk);
  CHECK(with("-1").code == ExitCode::kUsage);
}

}  // namespace
}  // namespace vicinity::cli
