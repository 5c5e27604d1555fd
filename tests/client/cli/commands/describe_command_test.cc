#include "client/cli/commands/describe_command.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/commands/index_command.h"
#include "partition/dataset/book.h"
#include "partition/dataset/dataset.h"
#include "proto/common/ids.h"
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

TEST_CASE("indexes are described alike by servers and from the directory, if they are open there",
          "[cli]") {
  testing::RandomGraphOptions shape;
  shape.splits = true;
  testing::SmallCluster cluster(
      testing::RandomGraph(shape), 3, 2, [](const std::string& directory) {
        CHECK(RunCommand(kIndexCommand, {directory, "--nodes", "node:label"}).code ==
              ExitCode::kOk);
      });
  const auto indexes = [&](const std::vector<std::string>& of) {
    std::vector<std::string> flags = {"--format=json"};
    flags.insert(flags.end(), of.begin(), of.end());
    const Answer answer = RunCommand(kDescribeCommand, flags);
    CHECK(answer.code == ExitCode::kOk);
    return nlohmann::json::parse(answer.out)["indexes"];
  };
  const nlohmann::json read = indexes({"--data", cluster.directory()});
  REQUIRE(read.size() == 1);
  CHECK(read[0]["type"] == "node");
  CHECK(read[0]["column"] == "label");
  CHECK(read[0]["entries"] == cluster.dataset().book().num_nodes(NodeTypeId{0}));
  CHECK(read[0]["bytes"] > 8 * read[0]["entries"].get<int64_t>());  // an int32 and a row each
  CHECK(read[0]["shards"].dump() == "[0,1,2]");
  CHECK(indexes({"--cluster", cluster.cluster_file()}) == read);
  const Answer table = RunCommand(kDescribeCommand, {"--cluster", cluster.cluster_file()});
  CHECK_THAT(table.out, Catch::Contains("INDEX OF") && Catch::Contains("[0,1,2]"));

  // Servers that run have what there was when they started.
  CHECK(RunCommand(kIndexCommand, {cluster.directory(), "--nodes", "node:split"}).code ==
        ExitCode::kOk);
  CHECK(indexes({"--data", cluster.directory()}).size() == 2);
  CHECK(indexes({"--cluster", cluster.cluster_file()}) == read);
  cluster.Restart(0);
  const nlohmann::json some = indexes({"--cluster", cluster.cluster_file()});
  REQUIRE(some.size() == 2);
  CHECK(some[1]["column"] == "split");
  CHECK(some[1]["shards"].dump() == "[0,2]");
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
