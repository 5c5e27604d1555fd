#include "client/cli/commands/graph/get_command.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/common/ids.h"
#include "tests/client/cli/run_command.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity::cli {
namespace {

TEST_CASE("get shows a node's own rows and in-degrees", "[cli]") {
  const testing::SmallCluster cluster(testing::TypedGraph(20, 10, 5, 1), 3, 2);
  const testing::MemoryGraph& graph = cluster.graph();
  for (int64_t position = 0; position < 20; position += 3) {
    const auto id = static_cast<int64_t>(graph.nodes[0].keys[position]);
    CAPTURE(id);
    const Answer answer =
        RunCommand(kGetCommand, {"--cluster", cluster.cluster_file(), "--type", "user",
                                 absl::StrCat("--id=", id), "--format=json"});
    REQUIRE(answer.code == ExitCode::kOk);
    const nlohmann::json node = nlohmann::json::parse(answer.out);
    CHECK(node["id"] == id);
    CHECK(node["type"] == "user");
    const std::string_view row = graph.row(NodeTypeId{0}, 0, position);
    std::vector<float> features(row.size() / sizeof(float));
    std::memcpy(features.data(), row.data(), row.size());
    CHECK(node["columns"]["features"].get<std::vector<float>>() == features);
    for (int e = 0; e < 5; ++e) {
      if (graph.schema.edge_types[e].target_type != 0) continue;
      CHECK(node["in_degrees"][graph.schema.EdgeTypeName(e)] ==
            graph.InEdges(EdgeTypeId{e}, position).size());
    }
  }
}

TEST_CASE("get takes string ids, chosen columns and a directory", "[cli]") {
  const testing::SmallCluster cluster(testing::TypedGraph(20, 10, 5, 1), 3, 2);
  const std::string& name = cluster.graph().nodes[1].names[4];
  const Answer answer = RunCommand(kGetCommand, {"--data", cluster.directory(), "--type", "item",
                                                 "--id", name, "--columns", "features"});
  CHECK(answer.code == ExitCode::kOk);
  CHECK_THAT(answer.out, Catch::Contains("item " + name + ": shard"));
  CHECK_THAT(answer.out, Catch::Contains("features"));
}

TEST_CASE("get lists no edge type without in-edges in its table", "[cli]") {
  const testing::SmallCluster cluster(testing::TypedGraph(20, 10, 5, 1), 3, 2);
  const testing::MemoryGraph& graph = cluster.graph();
  for (int64_t position = 0; position < 20; ++position) {
    const auto id = static_cast<int64_t>(graph.nodes[0].keys[position]);
    CAPTURE(id);
    const Answer answer = RunCommand(
        kGetCommand, {"--data", cluster.directory(), "--type", "user", absl::StrCat("--id=", id)});
    REQUIRE(answer.code == ExitCode::kOk);
    bool has_edges = false;
    for (int e = 0; e < 5; ++e) {
      if (graph.schema.edge_types[e].target_type != 0) continue;
      const bool listed = absl::StrContains(answer.out, graph.schema.EdgeTypeName(e));
      CHECK(listed == !graph.InEdges(EdgeTypeId{e}, position).empty());
      has_edges |= listed;
    }
    CHECK(absl::StrContains(answer.out, "no in-edges") == !has_edges);
  }
}

TEST_CASE("get tells what is not there", "[cli]") {
  testing::SmallCluster cluster(testing::TypedGraph(20, 10, 5, 1), 3, 2);
  const auto get = [&cluster](std::vector<std::string> args) {
    args.insert(args.end(), {"--cluster", cluster.cluster_file()});
    return RunCommand(kGetCommand, args).code;
  };
  CHECK(get({"--type", "tag", "--id", "3"}) == ExitCode::kOk);
  CHECK(get({"--type", "tag", "--id", "5"}) == ExitCode::kNotFound);
  CHECK(get({"--type", "shop", "--id", "3"}) == ExitCode::kNotFound);
  CHECK(get({"--type", "user", "--id", "no number"}) == ExitCode::kUsage);
  CHECK(get({"--type", "tag", "--id", "3", "--columns", "weight"}) == ExitCode::kNotFound);
  CHECK(get({"--id", "3"}) == ExitCode::kUsage);
  CHECK(get({"--type", "tag"}) == ExitCode::kUsage);
  cluster.Stop(0);
  CHECK(get({"--type", "tag", "--id", "3", "--timeout", "0.5"}) == ExitCode::kNotConnected);
}

}  // namespace
}  // namespace vicinity::cli
