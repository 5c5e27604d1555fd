#include "client/cli/commands/operate/logs_command.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/client/cli/admin_site.h"
#include "tests/client/cli/run_command.h"

namespace vicinity::cli {
namespace {

class LogsCommandTest {
 protected:
  Answer Run(std::vector<std::string> args) const {
    args.insert(args.end(), {"--cluster", site_.cluster()});
    return RunCommand(kLogsCommand, args);
  }

  testing::AdminSite site_;
};

TEST_CASE_METHOD(LogsCommandTest, "the last lines of a server are shown", "[cli]") {
  site_.log()->info("one");
  site_.log()->warn("two");
  site_.log()->info("three");
  const Answer text = Run({"--name", "a", "--last", "2"});
  CHECK(text.code == ExitCode::kOk);
  CHECK_THAT(text.out, Catch::Matches("[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}\\.[0-9]{3} a warning "
                                      "two\\n[0-9: .-]+ a info    three\\n"));
  const Answer json = Run({"--name", "a", "--level", "warning", "--format", "json"});
  CHECK(json.code == ExitCode::kOk);
  const nlohmann::json server = nlohmann::json::parse(json.out)["servers"][0];
  REQUIRE(server["lines"].size() == 1);
  CHECK(server["lines"][0]["text"] == "two");
  CHECK(server["lines"][0]["level"] == "warning");
  CHECK(server["forgotten"] == 0);
}

TEST_CASE_METHOD(LogsCommandTest, "who is away is told beside the lines of the others", "[cli]") {
  site_.log()->info("here");
  const Answer all = Run({});
  CHECK(all.code == ExitCode::kDegraded);
  CHECK_THAT(all.out, Catch::Contains("here"));
  CHECK_THAT(all.narration, Catch::Contains("b (127.0.0.1:1)"));
  CHECK(Run({"--name", "z"}).code == ExitCode::kNotFound);
  CHECK(Run({"--name", "a", "--level", "loud"}).code == ExitCode::kUsage);
}

TEST_CASE_METHOD(LogsCommandTest, "lines that its memory has no more are counted", "[cli]") {
  for (int i = 0; i < 3000; ++i) site_.log()->info("{} {}", i, std::string(1000, 'x'));
  CHECK(Run({"--name", "a", "--last", "5"}).narration == "");
  const Answer all = Run({"--name", "a", "--last", "0"});
  CHECK(all.code == ExitCode::kOk);
  CHECK_THAT(all.narration, Catch::Contains("are no longer in its memory"));
  CHECK_THAT(all.out, Catch::Contains(" 2999 x"));
}

}  // namespace
}  // namespace vicinity::cli
