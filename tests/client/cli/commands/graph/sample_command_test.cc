#include "client/cli/commands/graph/sample_command.h"

#include <catch2/catch.hpp>
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

// Ids of a dense type are positions.
std::set<std::pair<int64_t, int64_t>> EdgesOf(const testing::MemoryGraph& graph) {
  std::set<std::pair<int64_t, int64_t>> edges;
  for (size_t i = 0; i < graph.edges[0].sources.size(); ++i) {
    edges.emplace(graph.edges[0].sources[i], graph.edges[0].targets[i]);
  }
  return edges;
}

TEST_CASE("a minibatch is the same from a cluster of any cut and from disk", "[cli]") {
  const std::vector<std::string> draw = {"--seeds", "1,2,3,2", "--fanouts",    "4,2",
                                         "--seed",  "9",       "--format=json"};
  const auto sample = [&draw](const std::string& flag, const std::string& value) {
    std::vector<std::string> args = {flag, value};
    args.insert(args.end(), draw.begin(), draw.end());
    const Answer answer = RunCommand(kSampleCommand, args);
    CHECK(answer.code == ExitCode::kOk);
    return answer.out;
  };
  const testing::SmallCluster two(testing::RandomGraph({}), 2, 1);
  const testing::SmallCluster four(testing::RandomGraph({}), 4, 2);
  const std::string drawn = sample("--cluster", two.cluster_file());
  CHECK(drawn == sample("--cluster", four.cluster_file()));
  CHECK(drawn == sample("--data", four.directory()));

  const nlohmann::json json = nlohmann::json::parse(drawn);
  CHECK(json["seeds"].dump() == "[1,2,3,2]");
  REQUIRE(json["hops"].size() == 2);
  const auto edges = EdgesOf(two.graph());
  int64_t num_edges = 0;
  for (const nlohmann::json& hop : json["hops"]) {
    for (const nlohmann::json& block : hop) {
      CHECK(block["edge_type"] == "node:links:node");
      REQUIRE(block["targets"].size() == block["sources"].size());
      for (size_t i = 0; i < block["targets"].size(); ++i) {
        for (const nlohmann::json& source : block["sources"][i]) {
          CHECK(edges.count({source.get<int64_t>(), block["targets"][i].get<int64_t>()}) == 1);
          ++num_edges;
        }
      }
    }
  }
  CHECK(json["num_edges"] == num_edges);
  CHECK(num_edges > 0);
}

TEST_CASE("other draws are other minibatches", "[cli]") {
  testing::RandomGraphOptions options;
  options.weights = true;
  options.times = true;
  const testing::SmallCluster cluster(testing::RandomGraph(options), 2, 1);
  const auto sample = [&cluster](const std::string& flag) {
    const Answer answer =
        RunCommand(kSampleCommand, {"--data", cluster.directory(), "--seeds", "1,2,3,4,5,6,7,8",
                                    "--fanouts", "3,3", flag, "--format=json"});
    CHECK(answer.code == ExitCode::kOk);
    return nlohmann::json::parse(answer.out)["hops"];
  };
  const nlohmann::json plain = sample("--seed=0");
  for (const char* flag :
       {"--seed=1", "--epoch=1", "--batch=1", "--replace", "--expansion=new",
        "--weighted-by=weight", "--where=time > 0", "--disjoint", "--draws=labor"}) {
    CAPTURE(flag);
    CHECK(sample(flag) != plain);
  }
  const auto labor = [&cluster](const std::vector<std::string>& more) {
    std::vector<std::string> args = {"--data",          cluster.directory(), "--seeds",
                                     "1,2,3,4,5,6,7,8", "--fanouts",         "3,3",
                                     "--draws=labor",   "--format=json"};
    args.insert(args.end(), more.begin(), more.end());
    const Answer answer = RunCommand(kSampleCommand, args);
    CHECK(answer.code == ExitCode::kOk);
    return nlohmann::json::parse(answer.out)["hops"];
  };
  CHECK(labor({"--batch=1"}) != labor({}));
  CHECK(labor({"--batch=1", "--batch-dependency=2"}) == labor({}));
  CHECK(labor({"--layer-dependency"}) != labor({}));
}

TEST_CASE("an edge type may have fanouts of its own", "[cli]") {
  const testing::SmallCluster cluster(testing::TypedGraph(60, 40, 10, 1), 2, 1);
  const auto sample = [&cluster](const std::vector<std::string>& along) {
    std::vector<std::string> args = {
        "--data", cluster.directory(), "--type", "tag",          "--seeds",
        "1,2",    "--fanouts",         "2,1",    "--format=json"};
    for (const std::string& text : along) {
      args.push_back("--fanouts-along");
      args.push_back(text);
    }
    return RunCommand(kSampleCommand, args);
  };
  const Answer answer = sample({"has=-1,0", "user:buys:item=0,3"});
  REQUIRE(answer.code == ExitCode::kOk);
  const nlohmann::json hops = nlohmann::json::parse(answer.out)["hops"];
  REQUIRE(hops[0].size() == 1);
  CHECK(hops[0][0]["edge_type"] == "item:has:tag");
  for (int tag = 0; tag < 2; ++tag) {
    CHECK(hops[0][0]["sources"][tag].size() ==
          cluster.graph().InEdges(EdgeTypeId{2}, tag + 1).size());
  }
  for (const nlohmann::json& block : hops[1]) CHECK(block["edge_type"] != "item:has:tag");
  CHECK(sample({"sells=1,1"}).code != ExitCode::kOk);
  CHECK(sample({"has=1"}).code != ExitCode::kOk);
  CHECK(sample({"has=1,x"}).code != ExitCode::kOk);
}

TEST_CASE("disjoint trees say whose tree each node is in", "[cli]") {
  const testing::SmallCluster cluster(testing::RandomGraph({}), 2, 1);
  const Answer answer =
      RunCommand(kSampleCommand, {"--cluster", cluster.cluster_file(), "--seeds", "1,2,1",
                                  "--fanouts", "3,3", "--disjoint", "--format=json"});
  CHECK(answer.code == ExitCode::kOk);
  const nlohmann::json json = nlohmann::json::parse(answer.out);
  CHECK(json["seeds"].dump() == "[1,2,1]");
  const nlohmann::json trees = json["trees"]["node"];
  REQUIRE(trees.size() == json["nodes"]["node"].size());
  for (int seed = 0; seed < 3; ++seed) CHECK(trees[seed] == seed);
}

TEST_CASE("to draw by a weight that no edge has is misuse, and the text says what there is",
          "[cli]") {
  const testing::SmallCluster cluster(testing::RandomGraph({}), 1, 1);
  const Answer answer = RunCommand(kSampleCommand, {"--data", cluster.directory(), "--seeds", "1",
                                                    "--fanouts", "3", "--weighted-by", "price"});
  CHECK(answer.code != ExitCode::kOk);
  CHECK_THAT(answer.narration + answer.out, Catch::Contains("price"));
}

TEST_CASE("a condition that is none is misuse, and the text says where it fails", "[cli]") {
  testing::RandomGraphOptions options;
  options.times = true;
  const testing::SmallCluster cluster(testing::RandomGraph(options), 1, 1);
  const auto told = [&](const std::string& where) {
    const Answer answer = RunCommand(kSampleCommand, {"--data", cluster.directory(), "--seeds", "1",
                                                      "--fanouts", "3", "--where", where});
    CHECK(answer.code != ExitCode::kOk);
    return answer.narration + answer.out;
  };
  CHECK_THAT(told("time >"), Catch::Contains("expected a number at character 7"));
  CHECK_THAT(told("year > 3"), Catch::Contains("time of node:links:node"));
}

TEST_CASE("a minibatch is a table for people, with a summary", "[cli]") {
  const testing::SmallCluster cluster(testing::TypedGraph(20, 10, 5, 1), 2, 1);
  const std::string& name = cluster.graph().nodes[1].names[4];
  const Answer answer = RunCommand(kSampleCommand, {"--cluster", cluster.cluster_file(), "--type",
                                                    "item", "--seeds", name, "--fanouts=-1,2"});
  CHECK(answer.code == ExitCode::kOk);
  CHECK_THAT(answer.out, Catch::Contains("user:buys:item") && Catch::Contains(name));
  CHECK_THAT(answer.out, Catch::Contains("1 seeds, 2 hops,"));
}

TEST_CASE("a minibatch that makes no sense is misuse", "[cli]") {
  const testing::SmallCluster cluster(testing::RandomGraph({}), 2, 1);
  const auto sample = [&cluster](const std::string& seeds, const std::string& fanouts) {
    return RunCommand(kSampleCommand, {"--cluster", cluster.cluster_file(), "--seeds=" + seeds,
                                       "--fanouts=" + fanouts})
        .code;
  };
  CHECK(sample("1", "2") == ExitCode::kOk);
  CHECK(sample("1", "0") == ExitCode::kUsage);
  CHECK(sample("1", "-2") == ExitCode::kUsage);
  CHECK(sample("1", "99999999999") == ExitCode::kUsage);
  CHECK(sample("1", "1,1,1,1,1,1,1,1,1") == ExitCode::kUsage);
  CHECK(sample("1", "x") == ExitCode::kUsage);
  CHECK(sample("x", "2") == ExitCode::kUsage);
  CHECK(sample("1,100", "2") == ExitCode::kNotFound);
}

}  // namespace
}  // namespace vicinity::cli
