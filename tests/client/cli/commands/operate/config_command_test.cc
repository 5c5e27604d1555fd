#include "client/cli/commands/operate/config_command.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "proto/admin.pb.h"
#include "proto/common/file.h"
#include "tests/client/cli/admin_site.h"
#include "tests/client/cli/run_command.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

TEST_CASE("what servers run with is shown, and compared with their file", "[cli]") {
  testing::SmallCluster cluster(testing::RandomGraph({}), 2, 2);
  const Answer get =
      RunCommand(kConfigCommand, {"get", "--cluster", cluster.cluster_file(), "--format=json"});
  REQUIRE(get.code == ExitCode::kOk);
  const nlohmann::json servers = nlohmann::json::parse(get.out)["servers"];
  REQUIRE(servers.size() == 2);
  CHECK(servers[1]["settings"]["shards"] == "1");
  CHECK(servers[0]["settings"]["live"] == "no");
  CHECK(servers[0]["settings"].contains("max-calls"));
  CHECK(RunCommand(kConfigCommand, {"get", "--server", cluster.address(0)}).code == ExitCode::kOk);
  const Answer one = RunCommand(kConfigCommand, {"get", "--cluster", cluster.cluster_file(),
                                                 "--name", "s1", "--format=json"});
  REQUIRE(one.code == ExitCode::kOk);
  REQUIRE(nlohmann::json::parse(one.out)["servers"].size() == 1);
  CHECK(nlohmann::json::parse(one.out)["servers"][0]["name"] == "s1");
  CHECK(RunCommand(kConfigCommand, {"get", "--cluster", cluster.cluster_file(), "--name", "s9"})
            .code == ExitCode::kNotFound);

  const Answer same = RunCommand(kConfigCommand, {"diff", "--cluster", cluster.cluster_file()});
  CHECK(same.code == ExitCode::kOk);
  CHECK(same.out == "no differences\n");
  CHECK(RunCommand(kConfigCommand, {"diff", "--server", cluster.address(0)}).code ==
        ExitCode::kUsage);

  cluster.Stop(1);
  CHECK(RunCommand(kConfigCommand, {"diff", "--cluster", cluster.cluster_file()}).code ==
        ExitCode::kDegraded);
}

TEST_CASE("a file that was changed since the start is a difference", "[cli]") {
  testing::SmallCluster cluster(testing::RandomGraph({}), 2, 2);
  const testing::TempDir folder;
  // The servers' shards are swapped.
  const std::string text = absl::StrReplaceAll(ReadFile(cluster.cluster_file()).value(),
                                               {{"shards: 0", "shards: 1"},
                                                {"shards: 1", "shards: 0"},
                                                {"shards: [0]", "shards: [1]"},
                                                {"shards: [1]", "shards: [0]"}});
  VICINITY_REQUIRE_OK(WriteFileAtomically(folder.File("cluster"), text));
  const Answer diff =
      RunCommand(kConfigCommand, {"diff", "--cluster", folder.File("cluster"), "--format", "json"});
  CHECK(diff.code == ExitCode::kDegraded);
  const nlohmann::json found = nlohmann::json::parse(diff.out)["differences"];
  REQUIRE(found.size() == 2);
  CHECK(found[0]["setting"] == "shards");
  CHECK(found[0]["says"] == "cluster file");
}

TEST_CASE("every flag is shown with where it comes from, and who does not tell is named", "[cli]") {
  std::vector<proto::FlagValue> flags(2);
  flags[0].set_name("--max-calls");
  flags[0].set_value("512");
  flags[0].set_source(proto::FLAG_SOURCE_COMMAND_LINE);
  flags[1].set_name("--announce");
  flags[1].set_value("1");
  const testing::AdminSite site(flags);
  const auto get = [&site](std::vector<std::string> more) {
    more.insert(more.end(), {"--cluster", site.cluster()});
    more.insert(more.begin(), "get");
    return RunCommand(kConfigCommand, more);
  };
  const Answer all = get({"--format", "json"});
  CHECK(all.code == ExitCode::kDegraded);  // two of three do not run
  const nlohmann::json a = nlohmann::json::parse(all.out)["servers"][0];
  CHECK(a["settings"]["--max-calls"] == "512");
  CHECK(a["sources"]["--max-calls"] == "command line");
  CHECK(a["sources"]["--announce"] == "default");
  CHECK(a["sources"]["version"] == "server");
  CHECK_FALSE(a["settings"].contains("max-calls"));
  CHECK_FALSE(a.contains("flags_error"));
  const nlohmann::json set = nlohmann::json::parse(get({"--set-only", "--format", "json"}).out);
  CHECK(set["servers"][0]["settings"].contains("--max-calls"));
  CHECK_FALSE(set["servers"][0]["settings"].contains("--announce"));
  CHECK_THAT(get({}).out, Catch::Contains("--max-calls") && Catch::Contains("command line"));
  // By its address for data nobody knows where it tells its flags.
  const Answer by_address = RunCommand(
      kConfigCommand, {"get", "--server", site.server().address().ToString(), "--format", "json"});
  CHECK(by_address.code == ExitCode::kOk);
  const nlohmann::json alone = nlohmann::json::parse(by_address.out)["servers"][0];
  CHECK_THAT(alone["flags_error"].get<std::string>(), Catch::Contains("no admin address"));
  CHECK(alone["settings"].contains("max-calls"));
}

}  // namespace
}  // namespace vicinity::cli
