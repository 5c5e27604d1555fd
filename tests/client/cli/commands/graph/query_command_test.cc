#include "client/cli/commands/graph/query_command.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/cli/commands/index_command.h"
#include "tests/client/cli/run_command.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

constexpr char kText[] =
    "src = nodes(node, $seeds)\n"
    "near = neighbors(src, links, 2, columns=[label], edge_ids=true)\n"
    "far = neighbors(near, links, where=\"label > 0\", order_by=id, limit=1)\n"
    "walk = walk(src, links, 3, edge_ids=true)\n"
    "most = visited(src, links, 2, length=3, num_walks=5)\n"
    "rank = ppr(src, links, 2)\n"
    "sub = induced([src, near], links, edge_ids=true)\n";

TEST_CASE("an answer is the same from a cluster of any cut and from disk", "[cli]") {
  const auto query = [](const std::string& flag, const std::string& value) {
    const Answer answer = RunCommand(
        kQueryCommand, {flag, value, kText, "--input=seeds=1,2,3,2", "--seed=9", "--format=json"});
    INFO(answer.narration);
    CHECK(answer.code == ExitCode::kOk);
    return answer.out;
  };
  const testing::SmallCluster two(testing::RandomGraph({}), 2, 1);
  const testing::SmallCluster four(testing::RandomGraph({}), 4, 2);
  const std::string given = query("--cluster", two.cluster_file());
  CHECK(given == query("--cluster", four.cluster_file()));
  CHECK(given == query("--data", four.directory()));
  const nlohmann::json json = nlohmann::json::parse(given);
  CHECK(json["steps"][0]["nodes"].dump() == "[1,2,3,2]");
  CHECK(json["steps"][0]["node_type"] == "node");
  const testing::MemoryEdges& links = two.graph().edges[0];
  const nlohmann::json& near = json["steps"][1];
  for (size_t i = 0; i < near["nodes"].size(); ++i) {
    CHECK(links.sources[near["edge_ids"][i]] == near["nodes"][i]);
  }
  CHECK(near["columns"]["label"].size() == near["nodes"].size());
  CHECK(json["steps"][2]["offsets"].size() == near["nodes"].size() + 1);
  const nlohmann::json& walk = json["steps"][3];
  REQUIRE(walk["walks"].size() == 4);
  REQUIRE(walk["walk_edges"].size() == 4 * 3);
  for (size_t i = 0; i < 4; ++i) {
    CHECK(walk["walks"][i][0] == json["steps"][0]["nodes"][i]);
    for (size_t s = 0; s + 1 < walk["walks"][i].size(); ++s) {
      const int64_t edge = walk["walk_edges"][i * 3 + s];
      CHECK(links.targets[edge] == walk["walks"][i][s]);
      CHECK(links.sources[edge] == walk["walks"][i][s + 1]);
    }
  }
}

TEST_CASE("a subgraph, counts and scores are told", "[cli]") {
  const testing::SmallCluster cluster(testing::RandomGraph({}), 2, 1);
  const auto query = [&](const std::string& format) {
    const Answer answer = RunCommand(kQueryCommand, {"--data", cluster.directory(), kText,
                                                     "--input=seeds=1,2", "--format=" + format});
    CHECK(answer.code == ExitCode::kOk);
    return answer.out;
  };
  const nlohmann::json json = nlohmann::json::parse(query("json"));
  const nlohmann::json& sub = json["steps"][6];
  const testing::MemoryEdges& links = cluster.graph().edges[0];
  REQUIRE(sub["edge_ids"].size() > 3);
  for (size_t i = 0; i < sub["edge_ids"].size(); ++i) {
    const int64_t edge = sub["edge_ids"][i];
    CHECK(sub["nodes"][sub["edge_index"][0][i].get<size_t>()] == links.sources[edge]);
    CHECK(sub["targets"][sub["edge_index"][1][i].get<size_t>()] == links.targets[edge]);
  }
  CHECK(json["steps"][4]["counts"].size() == json["steps"][4]["nodes"].size());
  CHECK(json["steps"][5]["scores"].size() == json["steps"][5]["nodes"].size());
  CHECK(json["steps"][5]["residuals"].size() == 2);
  const std::string text = query("table");
  CHECK(text.find("OF  NODE  VISITS") != std::string::npos);
  CHECK(text.find("OF  NODE     SCORE") != std::string::npos);
  CHECK(text.find("edges between them\nSOURCE  TARGET") != std::string::npos);
}

TEST_CASE("people see each node with the node whose list it is in", "[cli]") {
  const testing::SmallCluster cluster(testing::RandomGraph({}), 2, 1);
  const testing::TempDir folder;
  const std::string file = folder.File("query.txt");
  std::ofstream(file) << kText;
  const Answer answer = RunCommand(
      kQueryCommand, {"--data", cluster.directory(), "--file", file, "--input", "seeds=1,2"});
  CHECK(answer.code == ExitCode::kOk);
  CHECK(answer.out.find("src: 2 of type node") == 0);
  CHECK(answer.out.find("near: 4 of type node\nOF  NODE  label") != std::string::npos);
}

TEST_CASE("a query is explained before it runs", "[cli]") {
  const testing::SmallCluster cluster(testing::RandomGraph({}), 2, 1);
  const Answer answer = RunCommand(
      kQueryCommand, {"--data", cluster.directory(), kText, "--input=seeds=1,2", "--explain"});
  CHECK(answer.code == ExitCode::kOk);
  CHECK(answer.out.find("servers draw 2 of each list") != std::string::npos);
  CHECK(answer.out.find("label of their nodes is read, without an index") != std::string::npos);
  CHECK(answer.out.find("expected, nothing was drawn: ") != std::string::npos);
  const Answer json = RunCommand(
      kQueryCommand,
      {"--data", cluster.directory(), kText, "--input=seeds=1,2", "--explain", "--format=json"});
  CHECK(nlohmann::json::parse(json.out)["steps"][1]["lists"] == 2);
}

TEST_CASE("nodes that an index tells are those that reading tells, and it is said which", "[cli]") {
  const testing::SmallCluster cluster(testing::RandomGraph({}), 2, 1);
  const auto query = [&](const std::string& text, const std::vector<std::string>& more) {
    std::vector<std::string> args = {"--data", cluster.directory(), text};
    args.insert(args.end(), more.begin(), more.end());
    const Answer answer = RunCommand(kQueryCommand, args);
    INFO(answer.narration);
    CHECK(answer.code == ExitCode::kOk);
    return answer.out;
  };
  const std::string none = "n = nodes(node, where=\"label > 1000\")";
  const std::string some = "s = nodes(node, where=\"label > 1\")";
  const std::string read = query(some, {"--format=json"});
  CHECK(query(none, {"--explain"}).find("by reading label") != std::string::npos);
  REQUIRE(RunCommand(kIndexCommand, {cluster.directory(), "--nodes", "node:label"}).code ==
          ExitCode::kOk);
  CHECK(query(none, {"--explain"}).find("by index of label") != std::string::npos);
  CHECK(query(some, {"--format=json"}) == read);
}

TEST_CASE("what is wrong with a query is told with its place", "[cli]") {
  const testing::SmallCluster cluster(testing::RandomGraph({}), 2, 1);
  const auto refused = [&](std::vector<std::string> args) {
    args.insert(args.begin(), {"--data", cluster.directory()});
    const Answer answer = RunCommand(kQueryCommand, args);
    CHECK(answer.code != ExitCode::kOk);
    return answer.narration;
  };
  CHECK(refused({"src = paper(x)"}).find("character 7: expected one of nodes") !=
        std::string::npos);
  CHECK(refused({kText}).find("the input $seeds is not given") != std::string::npos);
  CHECK(refused({kText, "--input=seeds=1", "--input=more=1"}).find("no step has $more") !=
        std::string::npos);
  CHECK(refused({kText, "--input=seeds"}).find("--input seeds: a name, = and ids") !=
        std::string::npos);
  CHECK(refused({}).find("give a query, or --file") != std::string::npos);
  CHECK(refused({"--file=/nowhere"}).find("cannot read /nowhere") != std::string::npos);
}

}  // namespace
}  // namespace vicinity::cli
