#include "client/cli/commands/operate/logs_command.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
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
  site_.log()->error("one");
  site_.log()->warn("two");
  site_.log()->error("three");
  site_.log()->info("four");  // as the server itself does, at any time
  const Answer text = Run({"--name", "a", "--last", "2", "--level", "warning"});
  CHECK(text.code == ExitCode::kOk);
  CHECK_THAT(text.out, Catch::Matches("[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}\\.[0-9]{3} a warning "
                                      "two\\n[0-9: .-]+ a error   three\\n"));
  const Answer json = Run({"--name", "a", "--level", "warning", "--last", "2", "--format", "json"});
  CHECK(json.code == ExitCode::kOk);
  const nlohmann::json server = nlohmann::json::parse(json.out)["servers"][0];
  REQUIRE(server["lines"].size() == 2);
  CHECK(server["lines"][0]["text"] == "two");
  CHECK(server["lines"][0]["level"] == "warning");
  CHECK(server["forgotten"] == 0);
}

// Two threads of it may look at the clock in another order than that in which their lines come.
TEST_CASE_METHOD(LogsCommandTest, "lines of one server stay in its order", "[cli]") {
  const auto now = std::chrono::system_clock::now();
  site_.log()->log(now, {}, spdlog::level::err, "first");
  site_.log()->log(now - std::chrono::seconds(1), {}, spdlog::level::err, "second");
  const Answer text = Run({"--name", "a", "--last", "2", "--level", "error"});
  CHECK(text.code == ExitCode::kOk);
  CHECK_THAT(text.out, Catch::Matches("[^\\n]*first\\n[^\\n]*second\\n"));
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

TEST_CASE_METHOD(LogsCommandTest, "lines are followed, each once, while another is away", "[cli]") {
  site_.log()->info("line 0");
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int i = 1; !done; ++i) {
      site_.log()->info("line {}", i);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
  const Answer answer = Run({"--follow", "--last", "1", "--count", "100", "--interval", "0.05",
                             "--name", "a,b", "--timeout", "20", "--format", "json"});
  done = true;
  writer.join();
  CHECK(answer.code == ExitCode::kOk);
  CHECK_THAT(answer.narration, Catch::Contains("b (127.0.0.1:1): waited for: "));
  std::istringstream lines(answer.out);
  uint64_t first = 0;
  uint64_t num_lines = 0;
  for (std::string text; std::getline(lines, text); ++num_lines) {
    const nlohmann::json line = nlohmann::json::parse(text);
    CHECK(line["server"] == "a");
    const uint64_t number = line["number"];
    if (num_lines == 0) first = number;
    CHECK(number == first + num_lines);
  }
  CHECK(num_lines == 100);
}

TEST_CASE_METHOD(LogsCommandTest, "what goes with following alone is refused without it", "[cli]") {
  CHECK(Run({"--name", "a", "--count", "3"}).code == ExitCode::kUsage);
  CHECK(Run({"--name", "a", "--interval", "3"}).code == ExitCode::kUsage);
  CHECK(Run({"--follow", "--interval", "0"}).code == ExitCode::kUsage);
  CHECK(Run({"--follow", "--name", "z"}).code == ExitCode::kNotFound);
}

}  // namespace
}  // namespace vicinity::cli
