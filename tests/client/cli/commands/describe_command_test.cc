#include "client/cli/commands/describe_command.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "tests/client/cli/run_command.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity::cli {
namespace {

TEST_CASE("a dataset is described alike by its servers and from its directory", "[cli]") {
  const testing::SmallCluster cluster(testing::TypedGraph(20, 10, 5, 1), 3, 2);
  const Answer served =
      RunCommand(kDescribeCommand, {"--cluster", cluster.cluster_file(), "--format=json"});
  CHECK(served.code == ExitCode::kOk);
  nlohmann::json from_servers = nlohmann::json::parse(served.out);
  CHECK(from_servers["servers"][0]["shards"].dump() == "[0,2]");
  from_servers.erase("servers");
  const Answer read =
      RunCommand(kDescribeCommand, {"--data", cluster.directory(), "--format=json"});
  CHECK(read.code == ExitCode::kOk);
  CHECK(nlohmann::json::parse(read.out) == from_servers);
  const Answer table = RunCommand(kDescribeCommand, {"--cluster", cluster.cluster_file()});
  CHECK(table.code == ExitCode::kOk);
  CHECK_THAT(table.out, Catch::Contains("user:buys:item") && Catch::Contains("s1"));
}

TEST_CASE("a dataset is described though a server is missing", "[cli]") {
  testing::SmallCluster cluster(testing::TypedGraph(20, 10, 5, 1), 3, 2);
  cluster.Stop(0);
  const Answer some =
      RunCommand(kDescribeCommand, {"--cluster", cluster.cluster_file(), "--format=json"});
  CHECK(some.code == ExitCode::kDegraded);
  const nlohmann::json json = nlohmann::json::parse(some.out);
  CHECK(json["node_types"].size() == 3);
  CHECK(json["servers"][0]["answered"] == false);
  cluster.Stop(1);
  CHECK(RunCommand(kDescribeCommand, {"--cluster", cluster.cluster_file()}).code ==
        ExitCode::kNotConnected);
}

TEST_CASE("servers of different datasets are told apart", "[cli]") {
  const testing::SmallCluster one(testing::RandomGraph({}), 1, 1);
  testing::RandomGraphOptions options;
  options.seed = 2;
  const testing::SmallCluster other(testing::RandomGraph(options), 1, 1);
  const Answer answer = RunCommand(
      kDescribeCommand, {"--server", absl::StrCat(one.address(0), ",", other.address(0))});
  CHECK(answer.code == ExitCode::kPrecondition);
  CHECK_THAT(answer.narration,
             Catch::Contains(one.address(0)) && Catch::Contains(other.address(0)));
}

TEST_CASE("a directory that holds no dataset is not found", "[cli]") {
  CHECK(RunCommand(kDescribeCommand, {"--data", "/no/such/folder"}).code == ExitCode::kNotFound);
  CHECK(RunCommand(kDescribeCommand, {"--data", "x", "--server", "h:1"}).code == ExitCode::kUsage);
}

}  // namespace
}  // namespace vicinity::cli
