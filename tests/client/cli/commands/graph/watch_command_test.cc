#include "client/cli/commands/graph/watch_command.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/graph.h"
#include "client/writer.h"
#include "tests/client/cli/run_command.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity::cli {
namespace {

using testing::SmallCluster;

TEST_CASE("watch shows what was written, a line a batch", "[cli]") {
  const SmallCluster cluster(testing::TypedGraph(30, 20, 10, 2), 1, 1, SmallCluster::Kind::kLive);
  GraphOptions options;
  options.cluster_file = cluster.cluster_file();
  auto graph = Graph::Open(options);
  REQUIRE(graph.ok());
  auto writer = Writer::Create(graph->get());
  REQUIRE(writer.ok());
  for (int64_t i = 0; i < 3; ++i) {
    GraphChanges changes;
    changes.new_edges = {{"knows", {1, 2}, {4, 5 + i}}};
    const std::vector<char> split = {1};
    changes.node_values = {{"user", {i}, {{"split", DType::kUint8, split}}}};
    REQUIRE((*writer)->Write(changes).ok());
  }
  const auto watch = [&](std::vector<std::string> args) {
    args.insert(args.end(), {"--cluster", cluster.cluster_file()});
    const Answer answer = RunCommand(kWatchCommand, args);
    CHECK(answer.code == ExitCode::kOk);
    return answer.out;
  };
  CHECK(watch({"--once"}).empty());
  const std::string all = watch({"--from", "0", "--once"});
  CHECK(std::count(all.begin(), all.end(), '\n') == 3);
  CHECK_THAT(all,
             Catch::Contains("shard 0  version 2  add 2 user:knows:user, update 1 user (split)"));
  const std::string some = watch({"--from", "1", "--count", "1", "--format", "json"});
  const nlohmann::json change = nlohmann::json::parse(some);
  CHECK(change["version"] == 2);
  CHECK(change["writer"].get<std::string>().size() == 32);
  CHECK(change["changes"][0]["edges"] == "user:knows:user");
  CHECK(change["changes"][0]["action"] == "add");
  CHECK(change["changes"][1]["column"] == "split");
  // A version that is yet to come: from there on.
  CHECK(watch({"--from", "9", "--once"}).empty());
}

TEST_CASE("in a graph that is read-only there is nothing to watch", "[cli]") {
  const SmallCluster cluster(testing::RandomGraph({}), 2, 1);
  CHECK(RunCommand(kWatchCommand, {"--cluster", cluster.cluster_file(), "--once"}).code ==
        ExitCode::kPrecondition);
}

}  // namespace
}  // namespace vicinity::cli
