#include "client/cli/commands/graph/versions_command.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/client/cli/run_command.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity::cli {
namespace {

using testing::SmallCluster;

TEST_CASE("versions shows each shard with its nodes and edges", "[cli]") {
  const SmallCluster cluster(testing::TypedGraph(30, 20, 10, 2), 3, 2, SmallCluster::Kind::kLive);
  const Answer json =
      RunCommand(kVersionsCommand, {"--cluster", cluster.cluster_file(), "--format", "json"});
  REQUIRE(json.code == ExitCode::kOk);
  int64_t users = 0;
  const nlohmann::json shards = nlohmann::json::parse(json.out)["shards"];
  REQUIRE(shards.size() == 3);
  for (const nlohmann::json& shard : shards) {
    CHECK(shard["version"] == 0);
    users += shard["nodes"]["user"].get<int64_t>();
    CHECK(shard["edges"].contains("user:buys:item"));
  }
  CHECK(users == 30);
  const Answer table = RunCommand(kVersionsCommand, {"--cluster", cluster.cluster_file()});
  CHECK_THAT(table.out, Catch::StartsWith("SHARD  VERSION  user  item  tag  user:buys:item"));
}

TEST_CASE("versions of a graph that is read-only are none", "[cli]") {
  const SmallCluster cluster(testing::RandomGraph({}), 2, 1);
  CHECK(RunCommand(kVersionsCommand, {"--cluster", cluster.cluster_file()}).code ==
        ExitCode::kPrecondition);
}

}  // namespace
}  // namespace vicinity::cli
