#include "client/cli/commands/operate/debug_command.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/commands/operate/shell_command.h"
#include "proto/admin.pb.h"
#include "proto/common/file.h"
#include "tests/client/cli/admin_site.h"
#include "tests/client/cli/commands/operate/variable.h"
#include "tests/client/cli/run_command.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

constexpr char kToken[] = "vct_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";

std::string AllTextIn(const std::string& folder) {
  std::string text;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) text += ReadFile(entry.path().string()).value();
  }
  return text;
}

// The cluster file with secrets where people leave them: in a comment, and in a path.
class DebugCommandTest {
 protected:
  DebugCommandTest() {
    const std::string text = ReadFile(cluster_.cluster_file()).value();
    VICINITY_REQUIRE_OK(WriteFileAtomically(
        file_, absl::StrCat("# password: hunter2\n", text, "access: 'of-", kToken, "'\n")));
  }

  const testing::TempDir folder_;
  const testing::SmallCluster cluster_{testing::RandomGraph({}), 2, 2};
  const std::string file_ = folder_.File("cluster");
};

TEST_CASE_METHOD(DebugCommandTest, "a dump has what servers say, and no secrets", "[cli]") {
  const testing::Variable token("VICINITY_TOKEN", kToken);
  const std::string output = folder_.File("dump");
  const Answer answer = RunCommand(kDebugCommand, {"dump", "--cluster", file_, "--output", output});
  CAPTURE(answer.narration);
  REQUIRE(answer.code == ExitCode::kOk);
  const auto server = nlohmann::json::parse(ReadFile(output + "/server-0-s0.json").value());
  CHECK(server["health"] == "serving");
  CHECK(server["status"]["metrics"].size() > 50);
  CHECK_FALSE(server["describe"].contains("error"));
  CHECK(nlohmann::json::parse(ReadFile(output + "/machine.json").value()).contains("tool_version"));
  const std::string all = AllTextIn(output);
  CHECK(absl::StrContains(all, "of-[secret]"));
  CHECK_FALSE(absl::StrContains(all, kToken));
  CHECK_FALSE(absl::StrContains(all, "hunter2"));
  struct stat found {};
  REQUIRE(stat(output.c_str(), &found) == 0);
  CHECK((found.st_mode & 077) == 0);
  // Nothing is written over.
  CHECK(RunCommand(kDebugCommand, {"dump", "--cluster", file_, "--output", output}).code ==
        ExitCode::kPrecondition);
}

TEST_CASE("a dump has flags and log lines, without the token of who asks", "[cli]") {
  const testing::Variable token("VICINITY_TOKEN", kToken);
  std::vector<proto::FlagValue> flags(1);
  flags[0].set_name("--max-calls");
  flags[0].set_value("512");
  testing::AdminSite site(flags);
  site.log()->info("a client sent {}", kToken);
  const std::string output = site.File("dump");
  const Answer answer =
      RunCommand(kDebugCommand, {"dump", "--cluster", site.cluster(), "--output", output});
  CAPTURE(answer.narration);
  REQUIRE(answer.code == ExitCode::kOk);
  const auto server = nlohmann::json::parse(ReadFile(output + "/server-0-a.json").value());
  CHECK(server["config"]["flags"][0]["value"] == "512");
  CHECK_THAT(ReadFile(output + "/server-0-a.log").value(),
             Catch::Contains(" info a client sent [secret]\n"));
  CHECK_THAT(ReadFile(output + "/server-1-b.log").value(), Catch::StartsWith("no lines: "));
  CHECK_THAT(ReadFile(output + "/server-2-c.log").value(), Catch::Contains("no admin address"));
}

TEST_CASE_METHOD(DebugCommandTest, "a dump may be an archive, and of servers that are away",
                 "[cli]") {
  const std::string archive = folder_.File("dump.tar.gz");
  const Answer answer =
      RunCommand(kDebugCommand,
                 {"dump", "--server", cluster_.address(0) + ",127.0.0.1:1", "--output", archive});
  CAPTURE(answer.narration);
  REQUIRE(answer.code == ExitCode::kOk);
  std::filesystem::create_directory(folder_.File("unpacked"));
  VICINITY_REQUIRE_OK(RunShellCommand(
      absl::StrCat("tar -C ", folder_.File("unpacked"), " -xzf ", archive), absl::Minutes(1)));
  const std::string all = AllTextIn(folder_.File("unpacked"));
  CHECK(absl::StrContains(all, "serving"));
  CHECK(absl::StrContains(all, "127.0.0.1:1"));
}

TEST_CASE_METHOD(DebugCommandTest, "a dump that cannot be made leaves nothing behind", "[cli]") {
  CHECK(RunCommand(kDebugCommand,
                   {"dump", "--cluster", folder_.File("none"), "--output", folder_.File("dump")})
            .code == ExitCode::kNotFound);
  for (const auto& entry : std::filesystem::directory_iterator(folder_.File(""))) {
    CHECK(entry.path().filename() == "cluster");
  }
}

}  // namespace
}  // namespace vicinity::cli
