#include "client/cli/commands/verify_command.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "partition/dataset/dataset.h"
#include "tests/client/cli/run_command.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

TEST_CASE("a whole dataset is said to be whole, with what was looked at", "[cli]") {
  const testing::TempDir folder;
  const testing::MemoryGraph graph = testing::TypedGraph(20, 10, 5, 1);
  VICINITY_REQUIRE_OK(testing::WriteGraph(graph, testing::Shuffled(graph, 3, 1), folder.File("d")));
  const Answer table = RunCommand(kVerifyCommand, {folder.File("d")});
  CHECK(table.code == ExitCode::kOk);
  CHECK_THAT(table.out, Catch::Contains("is whole: 3 shards, 35 nodes"));
  const Answer json = RunCommand(kVerifyCommand, {folder.File("d"), "--format=json"});
  CHECK(json.code == ExitCode::kOk);
  const nlohmann::json found = nlohmann::json::parse(json.out);
  CHECK(found["num_shards"] == 3);
  CHECK(found["num_nodes"] == 35);
  CHECK(found["num_files"] > 10);
}

TEST_CASE("a flipped byte in any file is found", "[cli]") {
  const testing::TempDir folder;
  VICINITY_REQUIRE_OK(testing::WriteGraph(testing::TypedGraph(20, 10, 5, 1), folder.File("d")));
  std::vector<std::string> files;
  {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                  Dataset::Open(folder.File("d")));
    for (const proto::FileEntry& file : dataset->manifest().shards(0).files()) {
      if (file.size() > 0) files.push_back(folder.File("d/") + file.path());
    }
  }
  for (const std::string& path : files) {
    CAPTURE(path);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(0, std::ios::end);
    const std::streamoff last = static_cast<std::streamoff>(file.tellg()) - 1;
    file.seekg(last);
    const int byte = file.get();
    const auto put = [&file, last](int value) {
      file.seekp(last);
      file.put(static_cast<char>(value));
      file.flush();
    };
    put(byte ^ 1);
    const Answer answer = RunCommand(kVerifyCommand, {folder.File("d")});
    CHECK(answer.code == ExitCode::kBadData);
    CHECK(answer.out.empty());
    put(byte);
  }
  CHECK(RunCommand(kVerifyCommand, {folder.File("d")}).code == ExitCode::kOk);
}

TEST_CASE("what is no dataset is not found", "[cli]") {
  const testing::TempDir folder;
  CHECK(RunCommand(kVerifyCommand, {folder.File("none")}).code == ExitCode::kNotFound);
  CHECK(RunCommand(kVerifyCommand, {}).code == ExitCode::kUsage);
}

}  // namespace
}  // namespace vicinity::cli
