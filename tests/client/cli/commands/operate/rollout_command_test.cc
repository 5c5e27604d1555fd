#include "client/cli/commands/operate/rollout_command.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/common/file.h"
#include "tests/client/cli/run_command.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

// Servers of this process, which no command of the shell can restart.
class RolloutCommandTest {
 protected:
  Answer Run(std::vector<std::string> more) const {
    std::vector<std::string> args = {"restart", "--cluster", cluster_.cluster_file()};
    args.insert(args.end(), more.begin(), more.end());
    return RunCommand(kRolloutCommand, args);
  }
  std::string Ran() const { return ReadFile(folder_.File("ran")).value_or("nothing"); }

  const testing::TempDir folder_;
  testing::SmallCluster cluster_{testing::RandomGraph({}), 2, 2};
  const std::string command_ =
      absl::StrCat("echo {name} {host} {address} >> ", folder_.File("ran"));
};

TEST_CASE_METHOD(RolloutCommandTest, "a dry run tells the commands and what will be missing",
                 "[cli]") {
  const Answer answer = Run({"--command", command_, "--dry-run"});
  CHECK(answer.code == ExitCode::kOk);
  CHECK_THAT(answer.out,
             Catch::Contains(absl::StrCat("s0: echo s0 127.0.0.1 ", cluster_.address(0), " >> ")) &&
                 Catch::Contains("s1: no other server has shard 1"));
  CHECK(Ran() == "nothing");
}

TEST_CASE_METHOD(RolloutCommandTest, "nothing is restarted without a yes", "[cli]") {
  const Answer answer = Run({"--command", command_});
  CHECK(answer.code == ExitCode::kUsage);
  CHECK_THAT(answer.narration, Catch::Contains("--yes"));
  CHECK(Ran() == "nothing");
  CHECK(Run({}).code == ExitCode::kUsage);
  CHECK(Run({"--command", command_, "--name", "s9"}).code == ExitCode::kNotFound);
}

TEST_CASE_METHOD(RolloutCommandTest, "it stops at the first that does not come back", "[cli]") {
  const Answer answer = Run({"--command", command_, "--yes", "--wait", "1", "--format", "json"});
  CHECK(answer.code == ExitCode::kDegraded);
  CHECK_THAT(answer.narration, Catch::Contains("the process from before"));
  CHECK(Ran() == absl::StrCat("s0 127.0.0.1 ", cluster_.address(0), "\n"));
  const nlohmann::json servers = nlohmann::json::parse(answer.out)["servers"];
  CHECK(servers[0]["state"] == "failed");
  CHECK(servers[1]["state"] == "not reached");

  const Answer failed = Run({"--command", "exit 3", "--yes", "--name", "s1"});
  CHECK(failed.code == ExitCode::kDegraded);
  CHECK_THAT(failed.narration, Catch::Contains("server s1"));
}

TEST_CASE_METHOD(RolloutCommandTest, "with a server away nothing is touched", "[cli]") {
  cluster_.Stop(1);
  const Answer answer = Run({"--command", command_, "--yes"});
  CHECK(answer.code == ExitCode::kPrecondition);
  CHECK_THAT(answer.narration, Catch::Contains("s1: "));
  CHECK(Ran() == "nothing");
}

}  // namespace
}  // namespace vicinity::cli
