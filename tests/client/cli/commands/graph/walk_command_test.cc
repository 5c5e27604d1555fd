#include "client/cli/commands/graph/walk_command.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/client/cli/run_command.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity::cli {
namespace {

TEST_CASE("walks are the same from a cluster of any cut and from disk", "[cli]") {
  const auto walk = [](const std::string& flag, const std::string& value) {
    const Answer answer =
        RunCommand(kWalkCommand, {flag, value, "--starts", "1,2,3,2", "--length=5", "--walks=3",
                                  "--seed=9", "--format=json"});
    CHECK(answer.code == ExitCode::kOk);
    return answer.out;
  };
  const testing::SmallCluster two(testing::RandomGraph({}), 2, 1);
  const testing::SmallCluster four(testing::RandomGraph({}), 4, 2);
  const std::string drawn = walk("--cluster", two.cluster_file());
  CHECK(drawn == walk("--cluster", four.cluster_file()));
  CHECK(drawn == walk("--data", four.directory()));

  const nlohmann::json json = nlohmann::json::parse(drawn);
  CHECK(json["metapath"].dump() == R"(["node:links:node"])");
  CHECK(json["length"] == 5);
  CHECK(json["draw"].dump() == R"({"batch":0,"epoch":0,"seed":9})");
  REQUIRE(json["walks"].size() == 12);
  std::set<std::pair<int64_t, int64_t>> edges;  // ids of a dense type are positions
  const testing::MemoryEdges& links = two.graph().edges[0];
  for (size_t i = 0; i < links.sources.size(); ++i) {
    edges.emplace(links.sources[i], links.targets[i]);
  }
  const std::vector<int64_t> starts = {1, 2, 3, 2};
  for (size_t i = 0; i < 12; ++i) {
    const auto nodes = json["walks"][i].get<std::vector<int64_t>>();
    REQUIRE(!nodes.empty());
    CHECK(nodes[0] == starts[i / 3]);
    for (size_t k = 1; k < nodes.size(); ++k) CHECK(edges.count({nodes[k], nodes[k - 1]}) == 1);
    if (nodes.size() == 6) continue;
    CHECK(std::count(links.targets.begin(), links.targets.end(), nodes.back()) == 0);
  }
  CHECK(json["walks"][3] != json["walks"][4]);  // drawn apart
}

TEST_CASE("other draws are other walks", "[cli]") {
  testing::RandomGraphOptions options;
  options.weights = true;
  const testing::SmallCluster cluster(testing::RandomGraph(options), 2, 1);
  const auto walk = [&cluster](const std::string& flag) {
    const Answer answer =
        RunCommand(kWalkCommand, {"--data", cluster.directory(), "--starts", "1,2,3,4,5,6,7,8",
                                  "--length=60", flag, "--format=json"});
    CHECK(answer.code == ExitCode::kOk);
    return nlohmann::json::parse(answer.out)["walks"];
  };
  // Long ones: where no edge leads back p changes nothing.
  const nlohmann::json plain = walk("--seed=0");
  for (const char* flag : {"--seed=1", "--epoch=1", "--batch=1", "--weighted-by=weight", "--p=0.1",
                           "--q=8", "--restart-prob=0.5"}) {
    CAPTURE(flag);
    CHECK(walk(flag) != plain);
  }
}

TEST_CASE("walks follow a metapath, their nodes are of the types that it leads to", "[cli]") {
  const testing::SmallCluster cluster(testing::TypedGraph(60, 40, 10, 1), 2, 1);
  const std::vector<std::string>& items = cluster.graph().nodes[1].names;
  const auto walk = [&](const std::string& metapath) {
    return RunCommand(kWalkCommand,
                      {"--cluster", cluster.cluster_file(), "--starts", items[3] + "," + items[5],
                       "--length=3", "--metapath", metapath, "--format=json"});
  };
  const Answer answer = walk("user:buys:item,bought_by");
  REQUIRE(answer.code == ExitCode::kOk);
  const nlohmann::json json = nlohmann::json::parse(answer.out);
  CHECK(json["node_types"].dump() == R"(["item","user","item","user"])");
  CHECK(json["metapath"].dump() == R"(["user:buys:item","item:bought_by:user"])");
  REQUIRE(json["walks"].size() == 2);
  CHECK(json["walks"][0][0] == items[3]);
  CHECK(json["walks"][1][0] == items[5]);
  for (const nlohmann::json& each : json["walks"]) {
    for (size_t k = 0; k < each.size(); ++k) CHECK(each[k].is_string() == (k % 2 == 0));
  }
  CHECK(walk("sells").code == ExitCode::kNotFound);
  CHECK(walk("buys").code == ExitCode::kUsage);  // leads to users, where the next does not begin
}

TEST_CASE("walks are a table for people, and show where they ended", "[cli]") {
  testing::MemoryGraph graph = testing::RandomGraph({/*num_nodes=*/4, /*num_edges=*/3});
  graph.edges[0].sources = {1, 2, 3};
  graph.edges[0].targets = {0, 1, 3};
  const testing::SmallCluster cluster(graph, 2, 1);
  const Answer answer = RunCommand(
      kWalkCommand, {"--cluster", cluster.cluster_file(), "--starts=0,3,2", "--length=3"});
  CHECK(answer.code == ExitCode::kOk);
  CHECK(answer.out ==
        "START  STEPS  NODES\n"
        "0          2  1 2 -\n"
        "3          3  3 3 3\n"
        "2          0  -\n"
        "\n"
        "3 walks of up to 3 steps, 2 of which ended before\n");
}

TEST_CASE("walks that make no sense are misuse", "[cli]") {
  const testing::SmallCluster cluster(testing::RandomGraph({}), 2, 1);
  const auto walk = [&cluster](const std::string& starts, const std::string& flag) {
    return RunCommand(kWalkCommand, {"--cluster", cluster.cluster_file(), "--starts=" + starts,
                                     "--length=2", flag})
        .code;
  };
  CHECK(walk("1", "--walks=2") == ExitCode::kOk);
  for (const char* flag : {"--walks=0", "--walks=-1", "--walks=99999999999", "--restart-prob=1",
                           "--p=0", "--q=-3", "--weighted-by=price", "--seed=x"}) {
    CAPTURE(flag);
    CHECK(walk("1", flag) == ExitCode::kUsage);
  }
  CHECK(walk("x", "--walks=1") == ExitCode::kUsage);
  CHECK(walk("1,100", "--walks=1") == ExitCode::kNotFound);
}

TEST_CASE("of several edge types some must be named, and the text says which there are", "[cli]") {
  const testing::SmallCluster cluster(testing::TypedGraph(20, 10, 5, 1), 1, 1);
  const Answer answer =
      RunCommand(kWalkCommand, {"--data", cluster.directory(), "--starts", "1", "--length", "2"});
  CHECK(answer.code == ExitCode::kUsage);
  CHECK_THAT(answer.narration + answer.out, Catch::Contains("user:buys:item"));
}

}  // namespace
}  // namespace vicinity::cli
