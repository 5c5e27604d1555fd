// The tool as a process: what no in-process test can see.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "partition/cut/child_process.h"
#include "proto/common/file.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

// Runs the tool; what it prints on both streams lands in the log.
absl::Status RunVicinity(const testing::TempDir& folder, const std::vector<std::string>& args) {
  ChildOptions options;
  options.program = "client/cli/vicinity";
  options.arguments = args;
  options.log_path = folder.File("log");
  options.time_limit = absl::Minutes(1);
  return RunChild(options).status();
}

TEST_CASE("a graph is generated, cut by METIS in a child, ranked and verified", "[cli]") {
  const testing::TempDir folder;
  const std::string source = folder.File("source");
  const std::string cut = folder.File("cut");
  VICINITY_REQUIRE_OK(
      RunVicinity(folder, {"generate", "block-model", "--num-nodes", "2000", "--output", source}));
  VICINITY_REQUIRE_OK(
      RunVicinity(folder, {"partition", "--input", source, "--output", cut, "--shards", "4"}));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::string log, ReadFile(folder.File("log")));
  CHECK_THAT(log, Catch::Contains("METIS took") && Catch::Contains("4 shards by metis"));
  VICINITY_CHECK_OK(RunVicinity(folder, {"rank", cut, "--homes", "0,1/2,3", "--name", "pairs"}));
  VICINITY_CHECK_OK(RunVicinity(folder, {"verify", cut}));
}

TEST_CASE("exit codes reach the shell", "[cli]") {
  const testing::TempDir folder;
  VICINITY_CHECK_OK(RunVicinity(folder, {"--version"}));
  const auto check = [&folder](const std::vector<std::string>& args, const std::string& code) {
    const absl::Status status = RunVicinity(folder, args);
    VICINITY_CHECK_CODE(status, absl::StatusCode::kAborted);
    CHECK_THAT(std::string(status.message()), Catch::Contains("exit status " + code));
  };
  check({}, "2");
  check({"dance"}, "2");
  check({"verify", folder.File("none")}, "3");
}

}  // namespace
}  // namespace vicinity
