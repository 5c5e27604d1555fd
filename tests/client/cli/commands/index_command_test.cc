#include "client/cli/commands/index_command.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "partition/dataset/manifest.h"
#include "tests/client/cli/run_command.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

class Fixture {
 public:
  Fixture() {
    const testing::MemoryGraph graph = testing::TypedGraph(30, 20, 10, 2);
    VICINITY_REQUIRE_OK(testing::WriteGraph(graph, testing::Shuffled(graph, 2, 3), path()));
  }
  std::string path() const { return folder_.File("d"); }

 private:
  const testing::TempDir folder_;
};

TEST_CASE("columns of nodes and edges are indexed, once", "[cli]") {
  const Fixture fixture;
  const Answer answer =
      RunCommand(kIndexCommand, {fixture.path(), "--nodes", "user:label,item:price", "--edges",
                                 "user:buys:item:weight", "--format", "json"});
  CAPTURE(answer.narration);
  REQUIRE(answer.code == ExitCode::kOk);
  const nlohmann::json json = nlohmann::json::parse(answer.out);
  CHECK(json["num_built"] == 3);
  CHECK(json["num_there"] == 0);
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::Manifest manifest, ReadManifest(fixture.path()));
  CHECK(manifest.indexes_size() == 3);
  CHECK(manifest.indexes(2).of_edges());
  const Answer again = RunCommand(kIndexCommand, {fixture.path(), "--nodes", "user:label"});
  REQUIRE(again.code == ExitCode::kOk);
  CHECK_THAT(again.out, Catch::Contains("0 columns indexed, 0 B; 1 had an index already"));
}

TEST_CASE("a column that cannot be indexed is told by its flag", "[cli]") {
  const Fixture fixture;
  const std::vector<std::pair<std::vector<std::string>, std::string>> told = {
      {{"--nodes", "label"}, "--nodes label: expected TYPE:COLUMN"},
      {{"--nodes", "shop:label"}, "there is no node type shop"},
      {{"--nodes", "user:price"}, "type user has no column price"},
      {{"--edges", "sells:weight"}, "there is no edge type sells"},
      {{"--nodes", "user:features"}, "column features has 5 values a row"},
      {{}, "give --nodes, --edges or both"},
  };
  for (const auto& [flags, text] : told) {
    CAPTURE(text);
    std::vector<std::string> args = {fixture.path()};
    args.insert(args.end(), flags.begin(), flags.end());
    const Answer answer = RunCommand(kIndexCommand, args);
    CHECK(answer.code == ExitCode::kUsage);
    CHECK_THAT(answer.narration, Catch::Contains(text));
  }
}

}  // namespace
}  // namespace vicinity::cli
