#include "client/cli/commands/generate_command.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "partition/cut/node_facts.h"
#include "partition/dataset/dataset.h"
#include "partition/schema/schema.h"
#include "tests/client/cli/run_command.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

TEST_CASE("an R-MAT graph comes with the columns and splits that flags ask for", "[cli]") {
  const testing::TempDir folder;
  const Answer answer = RunCommand(
      kGenerateCommand, {"rmat", "--scale", "8", "--edges-per-node", "4", "--feature-width", "16",
                         "--feature-type", "float16", "--train", "0.5", "--name", "tiny",
                         "--output", folder.File("d"), "--format", "json"});
  CAPTURE(answer.narration);
  REQUIRE(answer.code == ExitCode::kOk);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(folder.File("d")));
  CHECK(dataset->manifest().name() == "tiny");
  CHECK(NumNodes(*dataset) == 256);
  CHECK(NumEdges(*dataset) == 1024);
  CHECK(nlohmann::json::parse(answer.out)["edges"][0]["stored"] == 1024);
  const NodeTypeSpec& nodes = dataset->schema().node_types[0];
  REQUIRE(nodes.FindColumn("features") >= 0);
  CHECK(nodes.columns[nodes.FindColumn("features")].row_bytes() == 32);
  CHECK_FALSE(nodes.split_column.empty());
}

TEST_CASE("an R-MAT graph has no features unless asked", "[cli]") {
  const testing::TempDir folder;
  REQUIRE(
      RunCommand(kGenerateCommand, {"rmat", "--scale", "4", "--output", folder.File("d")}).code ==
      ExitCode::kOk);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(folder.File("d")));
  CHECK(dataset->schema().node_types[0].FindColumn("features") < 0);
}

TEST_CASE("a block model comes with labels, features and splits", "[cli]") {
  const testing::TempDir folder;
  const Answer answer =
      RunCommand(kGenerateCommand,
                 {"block-model", "--num-nodes", "500", "--num-communities", "5", "--num-classes",
                  "5", "--feature-width", "8", "--output", folder.File("d")});
  CAPTURE(answer.narration);
  REQUIRE(answer.code == ExitCode::kOk);
  CHECK_THAT(answer.out, Catch::Contains("node:link:node"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(folder.File("d")));
  CHECK(NumNodes(*dataset) == 500);
  CHECK(dataset->schema().node_types[0].num_classes == 5);
}

TEST_CASE("flags that make no graph are refused and leave nothing", "[cli]") {
  const testing::TempDir folder;
  std::vector<std::string> args;
  SECTION("no model") {}
  SECTION("unknown model") { args = {"lattice"}; }
  SECTION("no output") { args = {"rmat"}; }
  SECTION("scale") { args = {"rmat", "--scale", "40", "--output", folder.File("d")}; }
  SECTION("chances") { args = {"rmat", "-a", "0.9", "-b", "0.9", "--output", folder.File("d")}; }
  SECTION("shares") { args = {"block-model", "--train", "1.5", "--output", folder.File("d")}; }
  SECTION("type") { args = {"rmat", "--feature-type", "float17", "--output", folder.File("d")}; }
  const Answer answer = RunCommand(kGenerateCommand, args);
  CHECK(answer.code == ExitCode::kUsage);
  CHECK_FALSE(std::filesystem::exists(folder.File("d")));
}

}  // namespace
}  // namespace vicinity::cli
