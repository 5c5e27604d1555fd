#include "client/cli/commands/admin_command.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/cli/commands/health_command.h"
#include "tests/client/cli/admin_site.h"
#include "tests/client/cli/run_command.h"

namespace vicinity::cli {
namespace {

class AdminCommandTest {
 protected:
  Answer Run(std::vector<std::string> args) const {
    args.insert(args.end(), {"--cluster", site_.cluster()});
    return RunCommand(kAdminCommand, args);
  }

  testing::AdminSite site_;
};

TEST_CASE_METHOD(AdminCommandTest, "servers are drained by name, never all by accident", "[cli]") {
  CHECK(Run({"drain"}).code == ExitCode::kUsage);
  CHECK(site_.drains() == 0);
  CHECK(Run({"drain", "--name", "nobody"}).code == ExitCode::kNotFound);
  const Answer dry = Run({"drain", "--name", "a", "--dry-run"});
  CHECK(dry.code == ExitCode::kOk);
  CHECK_THAT(dry.out, Catch::Contains("would end a ("));
  CHECK(site_.drains() == 0);
  const Answer answer = Run({"drain", "--name", "a"});
  CHECK(answer.code == ExitCode::kOk);
  CHECK_THAT(answer.out, Catch::Contains("draining"));
  CHECK(site_.drains() == 1);
  // Asked again, by address: a drain goes on as it is.
  CHECK(RunCommand(kAdminCommand, {"drain", "--server", site_.server().admin_address()->ToString()})
            .code == ExitCode::kOk);
  CHECK(site_.drains() == 1);
}

TEST_CASE_METHOD(AdminCommandTest, "clients are turned away and taken again, and nothing ends",
                 "[cli]") {
  const auto health = [this] {
    return RunCommand(kHealthCommand, {"--server", site_.server().address().ToString()}).code;
  };
  CHECK(health() == ExitCode::kOk);
  const Answer away = Run({"drain", "--stay", "--name", "a"});
  CHECK(away.code == ExitCode::kOk);
  CHECK_THAT(away.out, Catch::Contains("turns clients away"));
  CHECK(health() == ExitCode::kDegraded);
  CHECK(site_.drains() == 0);
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
