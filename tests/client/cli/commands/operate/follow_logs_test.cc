// `vicinity logs --follow` as a process, beside real daemons that are killed and started again.
#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/cli/commands/admin_command.h"
#include "client/cli/output/exit_code.h"
#include "tests/client/cli/run_command.h"
#include "tests/testing/hosts/running_program.h"
#include "tests/testing/hosts/testbed.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::RunningProgram;
using testing::Testbed;

constexpr absl::Duration kLimit = absl::Seconds(60);

void SetLevel(const Testbed& testbed, const std::string& server, const std::string& level) {
  const cli::Answer answer =
      cli::RunCommand(cli::kAdminCommand, {"log-level", level, "--name", server, "--cluster",
                                           testbed.cluster_file(), "--timeout", "20"});
  REQUIRE(answer.code == cli::ExitCode::kOk);
}

TEST_CASE("a log is followed over the death and the return of a server", "[logs]") {
  testing::TestbedOptions options;
  options.graph.num_nodes = 200;
  options.num_servers = 2;
  options.replicas = 2;
  options.live = true;
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto testbed, Testbed::Start(options));
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const auto program, RunningProgram::Start({"client/cli/vicinity", "logs", "--follow",
                                                 "--cluster", testbed->cluster_file(), "--interval",
                                                 "0.05", "--timeout", "20", "--format", "json"}));
  VICINITY_REQUIRE_OK(program->WaitForLine("\"text\":\"serving shard", kLimit));

  VICINITY_REQUIRE_OK(testbed->Kill(1));
  VICINITY_REQUIRE_OK(program->WaitForLine("waited for: ", kLimit));
  SetLevel(*testbed, "s0", "debug");  // which it says; the dead one holds up nothing
  VICINITY_REQUIRE_OK(program->WaitForLine("the log's level is debug", kLimit));
  VICINITY_REQUIRE_OK(testbed->Restart(1));
  VICINITY_REQUIRE_OK(program->WaitForLine("has been started again", kLimit));
  SetLevel(*testbed, "s1", "info");
  VICINITY_REQUIRE_OK(program->WaitForLine("the log's level is info", kLimit));
  program->Signal(SIGINT);
  VICINITY_ASSERT_OK_AND_ASSIGN(const int code, program->WaitForExit(kLimit));
  CHECK(code == 128 + SIGINT);

  // Of each run of each server the lines one after the other, with none twice and none missing.
  std::map<std::string, uint64_t> last;               // number, by run
  std::map<std::string, std::set<std::string>> runs;  // by server
  std::istringstream lines(program->output());
  for (std::string text; std::getline(lines, text);) {
    const nlohmann::json line = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!line.is_object()) continue;  // a note
    const std::string run = line["run"];
    const uint64_t number = line["number"];
    CHECK(number == last[run] + 1);
    last[run] = number;
    runs[line["server"]].insert(run);
  }
  CHECK(runs["s0"].size() == 1);
  CHECK(runs["s1"].size() == 2);
}

}  // namespace
}  // namespace vicinity
