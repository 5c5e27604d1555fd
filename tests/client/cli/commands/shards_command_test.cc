#include "client/cli/commands/shards_command.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/client/cli/run_command.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

// A server that has both shards, and a cluster file that names another for the second, too.
class ShardsTest {
 protected:
  std::string ClusterFile(const std::string& other_address) const {
    const std::string path = folder_.File("cluster.textproto");
    std::ofstream file(path);
    file << "data: '" << cluster_.directory() << "' num_shards: 2\n";
    file << "servers { name: 'a' listen: '" << cluster_.address(0) << "' shards: [0, 1] }\n";
    file << "servers { name: 'b' listen: '" << other_address << "' shards: [1] }\n";
    return path;
  }

  const testing::TempDir folder_;
  testing::SmallCluster cluster_{testing::RandomGraph({}), 2, 1};
};

TEST_CASE_METHOD(ShardsTest, "shards shows every replica of every shard", "[cli]") {
  const Answer table = RunCommand(kShardsCommand, {"--cluster", ClusterFile(cluster_.address(0))});
  CHECK(table.code == ExitCode::kOk);
  CHECK_THAT(table.out, Catch::Contains("1/1") && Catch::Contains("2/2") &&
                            Catch::Contains(cluster_.address(0)) && Catch::Contains("live"));
  const Answer json =
      RunCommand(kShardsCommand, {"--cluster", ClusterFile(cluster_.address(0)), "--format=json"});
  const nlohmann::json found = nlohmann::json::parse(json.out);
  REQUIRE(found["shards"].size() == 2);
  CHECK(found["shards"][0]["replicas"].size() == 1);
  const nlohmann::json& second = found["shards"][1];
  CHECK(second["shard"] == 1);
  CHECK(second["live"] == 2);
  REQUIRE(second["replicas"].size() == 2);
  CHECK(second["replicas"][1]["server"] == "b");
  CHECK(second["replicas"][1]["state"] == "live");
  CHECK(second["replicas"][1]["reason"] == "");
  CHECK(second["replicas"][1]["fingerprint"].get<std::string>().size() == 16);
}

TEST_CASE_METHOD(ShardsTest, "shards tells what cannot be used, and why", "[cli]") {
  SECTION("a server that is away") {
    const Answer answer =
        RunCommand(kShardsCommand, {"--cluster", ClusterFile("127.0.0.1:1"), "--format=json"});
    CHECK(answer.code == ExitCode::kDegraded);
    const nlohmann::json found = nlohmann::json::parse(answer.out);
    CHECK(found["shards"][1]["live"] == 1);
    CHECK(found["shards"][1]["replicas"][1]["state"] == "unreachable");
    CHECK_THAT(answer.narration, Catch::Contains("(server b)"));
    CHECK_THAT(answer.narration, !Catch::Contains("no live replica"));
  }
  SECTION("a server without the shard") {
    const testing::SmallCluster half(testing::RandomGraph({}), 2, 2);
    const Answer answer = RunCommand(kShardsCommand, {"--cluster", ClusterFile(half.address(0))});
    CHECK(answer.code == ExitCode::kDegraded);
    CHECK_THAT(answer.out, Catch::Contains("quarantined"));
    CHECK_THAT(answer.narration, Catch::Contains("does not have it"));
  }
  SECTION("a server of another dataset") {
    const testing::SmallCluster other(testing::TypedGraph(30, 20, 4, 4), 2, 1);
    const Answer answer = RunCommand(kShardsCommand, {"--cluster", ClusterFile(other.address(0))});
    CHECK(answer.code == ExitCode::kDegraded);
    CHECK_THAT(answer.out, Catch::Contains("quarantined"));
    CHECK_THAT(answer.narration, Catch::Contains("of dataset "));
  }
  SECTION("all of them") {
    cluster_.Stop(0);
    const Answer answer = RunCommand(kShardsCommand, {"--cluster", ClusterFile("127.0.0.1:1")});
    CHECK(answer.code == ExitCode::kNotConnected);
    CHECK_THAT(answer.narration, Catch::Contains("no live replica of shard 0, 1"));
  }
}

TEST_CASE("shards without a cluster file is misuse", "[cli]") {
  CHECK(RunCommand(kShardsCommand, {}).code == ExitCode::kUsage);
  CHECK(RunCommand(kShardsCommand, {"--server", "h:1"}).code == ExitCode::kUsage);
  CHECK(RunCommand(kShardsCommand, {"--cluster", "/no/such/file"}).code == ExitCode::kNotFound);
}

}  // namespace
}  // namespace vicinity::cli
