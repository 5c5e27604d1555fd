#include "client/cli/commands/operate/context_command.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "client/cli/commands/graph/get_command.h"
#include "client/cli/commands/health_command.h"
#include "client/cli/commands/shards_command.h"
#include "proto/common/file.h"
#include "tests/client/cli/commands/operate/variable.h"
#include "tests/client/cli/run_command.h"
#include "tests/integration/fixtures/small_cluster.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

using testing::Variable;

TEST_CASE("commands mean the context in use, another, or the environment's cluster", "[cli]") {
  const testing::TempDir folder;
  const Variable config("XDG_CONFIG_HOME", folder.File("config"));
  CHECK(RunCommand(kHealthCommand, {}).code == ExitCode::kUsage);

  testing::SmallCluster one(testing::RandomGraph({}), 2, 2);
  testing::SmallCluster other(testing::RandomGraph({}), 1, 1);
  REQUIRE(RunCommand(kContextCommand, {"set", "one", "--cluster", one.cluster_file()}).code ==
          ExitCode::kOk);
  REQUIRE(RunCommand(kContextCommand, {"set", "other", "--cluster", other.cluster_file()}).code ==
          ExitCode::kOk);
  // The first is in use.
  const auto num_servers = [](const std::vector<std::string>& args) {
    std::vector<std::string> all = {"--format=json"};
    all.insert(all.end(), args.begin(), args.end());
    const Answer answer = RunCommand(kHealthCommand, all);
    CAPTURE(answer.narration);
    REQUIRE(answer.code == ExitCode::kOk);
    return nlohmann::json::parse(answer.out)["servers"].size();
  };
  CHECK(num_servers({}) == 2);
  CHECK(num_servers({"--context", "other"}) == 1);
  CHECK(num_servers({"--cluster", other.cluster_file()}) == 1);
  CHECK(num_servers({"--server", one.address(1)}) == 1);
  CHECK(RunCommand(kShardsCommand, {}).code == ExitCode::kOk);
  CHECK(RunCommand(kGetCommand, {"--context", "one", "--id", "1", "--type", "none"}).code !=
        ExitCode::kUsage);
  {
    const Variable cluster("VICINITY_CLUSTER", other.cluster_file());
    CHECK(num_servers({}) == 1);
    CHECK(num_servers({"--context", "one"}) == 2);
  }
  REQUIRE(RunCommand(kContextCommand, {"use", "other"}).code == ExitCode::kOk);
  CHECK(num_servers({}) == 1);
  const Answer list = RunCommand(kContextCommand, {"list", "--format=json"});
  CHECK(nlohmann::json::parse(list.out)["current"] == "other");
  CHECK(nlohmann::json::parse(list.out)["contexts"][0]["cluster"] == one.cluster_file());

  REQUIRE(RunCommand(kContextCommand, {"remove", "other"}).code == ExitCode::kOk);
  CHECK(RunCommand(kHealthCommand, {}).code == ExitCode::kUsage);
}

TEST_CASE("a context that is not there is named, with what was meant", "[cli]") {
  const testing::TempDir folder;
  const Variable config("XDG_CONFIG_HOME", folder.File("config"));
  const Answer none = RunCommand(kContextCommand, {"use", "production"});
  CHECK(none.code == ExitCode::kNotFound);
  CHECK_THAT(none.narration, Catch::Contains("vicinity context set"));
  VICINITY_REQUIRE_OK(WriteFileAtomically(
      folder.File("cluster"),
      "data: 'graph' num_shards: 1 servers { name: 'a' listen: '127.0.0.1:2' shards: 0 }"));
  REQUIRE(RunCommand(kContextCommand, {"set", "production", "--cluster", folder.File("cluster")})
              .code == ExitCode::kOk);
  const Answer near = RunCommand(kHealthCommand, {"--context", "prodcution"});
  CHECK(near.code == ExitCode::kNotFound);
  CHECK_THAT(near.narration, Catch::Contains("did you mean production?"));
  CHECK(RunCommand(kContextCommand, {"remove", "staging"}).code == ExitCode::kNotFound);
}

TEST_CASE("a context needs a name and a cluster file that is one", "[cli]") {
  const testing::TempDir folder;
  const Variable config("XDG_CONFIG_HOME", folder.File("config"));
  CHECK(RunCommand(kContextCommand, {"set", "a b", "--cluster", "x"}).code == ExitCode::kUsage);
  CHECK(RunCommand(kContextCommand, {"set", "a", "--cluster", folder.File("x")}).code ==
        ExitCode::kNotFound);
  VICINITY_REQUIRE_OK(WriteFileAtomically(folder.File("cluster"), "servers: 3"));
  CHECK(RunCommand(kContextCommand, {"set", "a", "--cluster", folder.File("cluster")}).code ==
        ExitCode::kUsage);
  CHECK_THAT(RunCommand(kContextCommand, {"list"}).out, Catch::Contains("no contexts"));
}

}  // namespace
}  // namespace vicinity::cli
