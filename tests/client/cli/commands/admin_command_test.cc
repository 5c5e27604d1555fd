#include "client/cli/commands/admin_command.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/cli/commands/health_command.h"
#include "proto/cluster/cluster_file.h"
#include "proto/common/file.h"
#include "server/server.h"
#include "tests/client/cli/run_command.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

// One server with an admin port, and a cluster file that also names one that does not run.
class AdminCommandTest {
 protected:
  AdminCommandTest() {
    const testing::MemoryGraph graph = testing::RandomGraph({});
    VICINITY_REQUIRE_OK(WriteGraph(graph, testing::Shuffled(graph, 2, 5), folder_.File("graph")));
    ServerOptions options;
    options.name = "a";
    options.data = folder_.File("graph");
    options.admin = HostPort{"127.0.0.1", 0};
    options.drain = [this] { ++drains_; };
    auto server = Server::Start(options);
    VICINITY_REQUIRE_OK(server);
    server_ = *std::move(server);
    VICINITY_REQUIRE_OK(WriteFileAtomically(
        cluster_, absl::StrCat("data: 'graph' num_shards: 2\nservers { name: 'a' listen: '",
                               server_->address().ToString(), "' shards: 0 admin: '",
                               server_->admin_address()->ToString(),
                               "' }\nservers { name: 'b' listen: '127.0.0.1:2' shards: 1 "
                               "admin: '127.0.0.1:1' }\n")));
  }
  Answer Run(std::vector<std::string> args) const {
    args.insert(args.end(), {"--cluster", cluster_});
    return RunCommand(kAdminCommand, args);
  }

  const testing::TempDir folder_;
  const std::string cluster_ = folder_.File("cluster.textproto");
  std::atomic<int> drains_{0};
  std::unique_ptr<Server> server_;
};

TEST_CASE_METHOD(AdminCommandTest, "servers are drained by name, never all by accident", "[cli]") {
  CHECK(Run({"drain"}).code == ExitCode::kUsage);
  CHECK(drains_ == 0);
  CHECK(Run({"drain", "--name", "nobody"}).code == ExitCode::kNotFound);
  const Answer dry = Run({"drain", "--name", "a", "--dry-run"});
  CHECK(dry.code == ExitCode::kOk);
  CHECK_THAT(dry.out, Catch::Contains("would end a ("));
  CHECK(drains_ == 0);
  const Answer answer = Run({"drain", "--name", "a"});
  CHECK(answer.code == ExitCode::kOk);
  CHECK_THAT(answer.out, Catch::Contains("draining"));
  CHECK(drains_ == 1);
  // Asked again, by address: a drain goes on as it is.
  CHECK(
      RunCommand(kAdminCommand, {"drain", "--server", server_->admin_address()->ToString()}).code ==
      ExitCode::kOk);
  CHECK(drains_ == 1);
}

TEST_CASE_METHOD(AdminCommandTest, "clients are turned away and taken again, and nothing ends",
                 "[cli]") {
  const auto health = [this] {
    return RunCommand(kHealthCommand, {"--server", server_->address().ToString()}).code;
  };
  CHECK(health() == ExitCode::kOk);
  const Answer away = Run({"drain", "--stay", "--name", "a"});
  CHECK(away.code == ExitCode::kOk);
  CHECK_THAT(away.out, Catch::Contains("turns clients away"));
  CHECK(health() == ExitCode::kDegraded);
  CHECK(drains_ == 0);
  CHECK(Run({"undrain", "--name", "a"}).code == ExitCode::kOk);
  CHECK(health() == ExitCode::kOk);
  CHECK(Run({"undrain", "--name", "a"}).code == ExitCode::kOk);
  // One that ends does not come back.
  CHECK(Run({"drain", "--name", "a"}).code == ExitCode::kOk);
  CHECK(Run({"undrain", "--name", "a"}).code != ExitCode::kOk);
}

TEST_CASE_METHOD(AdminCommandTest, "files are verified, and who is missing is told", "[cli]") {
  const Answer all = Run({"verify", "--format", "json"});
  CHECK(all.code == ExitCode::kDegraded);
  const nlohmann::json found = nlohmann::json::parse(all.out);
  CHECK(found["servers"][0]["files"] > 0);
  CHECK(found["servers"][0]["faults"].empty());
  CHECK(found["servers"][1]["answered"] == false);
  const Answer one = Run({"verify", "--name", "a", "--rate", "1000"});
  CHECK(one.code == ExitCode::kOk);
  CHECK_THAT(one.out, Catch::Contains("whole"));
}

TEST_CASE_METHOD(AdminCommandTest, "log level and credentials are set and read", "[cli]") {
  const Answer level = Run({"log-level", "debug", "--name", "a"});
  CHECK(level.code == ExitCode::kOk);
  CHECK_THAT(level.out, Catch::Contains("debug, was"));
  CHECK(Run({"log-level", "--name", "a"}).code == ExitCode::kUsage);
  CHECK(Run({"log-level", "loud", "--name", "a"}).code == ExitCode::kUsage);
  const Answer reload = Run({"reload", "--name", "a"});
  CHECK(reload.code == ExitCode::kOk);
  CHECK_THAT(reload.out, Catch::Contains("0 granted, no certificate"));
}

TEST_CASE("an admin command needs a verb", "[cli]") {
  CHECK(RunCommand(kAdminCommand, {}).code == ExitCode::kUsage);
  CHECK(RunCommand(kAdminCommand, {"explode"}).code == ExitCode::kUsage);
}

}  // namespace
}  // namespace vicinity::cli
