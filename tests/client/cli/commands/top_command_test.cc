#include "client/cli/commands/top_command.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/client/cli/run_command.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity::cli {
namespace {

TEST_CASE("top shows what every server does a second", "[cli]") {
  const testing::SmallCluster cluster(testing::RandomGraph({}), 2, 2);
  const Answer json = RunCommand(kTopCommand, {"--cluster", cluster.cluster_file(), "--once",
                                               "--interval", "0.05", "--format", "json"});
  CHECK(json.code == ExitCode::kOk);
  const nlohmann::json found = nlohmann::json::parse(json.out);
  REQUIRE(found["servers"].size() == 2);
  const nlohmann::json& first = found["servers"][0];
  CHECK(first["name"] == "s0");
  CHECK(first["answered"] == true);
  CHECK(first["resident_bytes"] > 0);
  CHECK(first["seconds"] >= 0.05);
  // The second look itself is the only call between the two.
  const auto& methods = first["methods"];
  const auto status = std::find_if(methods.begin(), methods.end(), [](const nlohmann::json& each) {
    return each["method"] == "Status";
  });
  REQUIRE(status != methods.end());
  const double status_calls = (*status)["calls_per_second"];
  CHECK(status_calls * first["seconds"].get<double>() == Approx(1));
  CHECK(first["calls_per_second"] == status_calls);
  CHECK(first["bytes_per_second"] == 0);
  CHECK(first["rejected"] == 0);
  CHECK(first["rejected_per_second"] == 0);
}

TEST_CASE("a server that is not there is a row and no error", "[cli]") {
  testing::SmallCluster cluster(testing::RandomGraph({}), 2, 2);
  cluster.Stop(1);
  const Answer table = RunCommand(
      kTopCommand, {"--cluster", cluster.cluster_file(), "--count", "2", "--interval", "0.05"});
  CHECK(table.code == ExitCode::kOk);
  CHECK_THAT(table.out,
             Catch::Contains("s0") && Catch::Contains("STATUS/S") && Catch::Contains("REJECTED/S"));
  CHECK_THAT(table.out, Catch::Contains("no answer") && Catch::Contains("s1: "));
  const size_t first = table.out.find("SERVER");
  REQUIRE(first != std::string::npos);
  CHECK(table.out.find("SERVER", first + 1) != std::string::npos);
}

TEST_CASE("top without knowing whom to ask is misuse", "[cli]") {
  CHECK(RunCommand(kTopCommand, {"--once"}).code == ExitCode::kUsage);
  CHECK(RunCommand(kTopCommand, {"--server", "h:1", "--interval", "0"}).code == ExitCode::kUsage);
}

}  // namespace
}  // namespace vicinity::cli
