// The daemon as a process: what it prints, writes and returns.
#include <signal.h>

#include <catch2/catch.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "proto/common/file.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/hosts/running_program.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::RunningProgram;

constexpr absl::Duration kLimit = absl::Seconds(60);

class DaemonTest {
 public:
  DaemonTest() {
    const testing::MemoryGraph graph = testing::RandomGraph({});
    VICINITY_REQUIRE_OK(WriteGraph(graph, testing::Shuffled(graph, 2, 5), folder_.File("graph")));
  }

 protected:
  static std::unique_ptr<RunningProgram> Start(std::vector<std::string> args) {
    args.insert(args.begin(), "server/vicinityd");
    auto program = RunningProgram::Start(args);
    VICINITY_REQUIRE_OK(program);
    return *std::move(program);
  }
  // Of the test's data, on a free port, told by the ready file.
  std::unique_ptr<RunningProgram> StartServing(std::vector<std::string> args = {},
                                               const std::string& drain = "0.1") {
    args.insert(args.end(), {"--data", folder_.File("graph"), "--listen", "127.0.0.1:0",
                             "--ready-file", folder_.File("ready"), "--drain", drain});
    auto program = Start(args);
    VICINITY_REQUIRE_OK(program->WaitForLine("ready in", kLimit));
    return program;
  }
  // Exit code and output of a daemon that does not get to serve.
  static std::pair<int, std::string> RunToEnd(std::vector<std::string> args) {
    const auto program = Start(std::move(args));
    VICINITY_ASSERT_OK_AND_ASSIGN(const int code, program->WaitForExit(kLimit));
    return {code, program->output()};
  }

  const testing::TempDir folder_;
};

TEST_CASE_METHOD(DaemonTest, "the daemon tells where it is ready and ends well on SIGTERM",
                 "[vicinityd]") {
  const int signal = GENERATE(SIGTERM, SIGINT);
  const auto daemon = StartServing();
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::string ready, ReadFile(folder_.File("ready")));
  CHECK_THAT(ready, Catch::Matches("127\\.0\\.0\\.1:[1-9][0-9]*\n"));
  CHECK_THAT(daemon->output(), Catch::Contains("serving shards 0,1 of"));
  CHECK_THAT(daemon->output(), Catch::Contains(ready.substr(0, ready.size() - 1)));
  daemon->Signal(signal);
  VICINITY_ASSERT_OK_AND_ASSIGN(const int code, daemon->WaitForExit(kLimit));
  CHECK(code == 0);
}

TEST_CASE_METHOD(DaemonTest, "a second signal ends the daemon at once", "[vicinityd]") {
  const auto daemon = StartServing({}, "600");
  daemon->Signal(SIGTERM);
  VICINITY_REQUIRE_OK(daemon->WaitForLine("stopping", kLimit));
  daemon->Signal(SIGINT);
  VICINITY_ASSERT_OK_AND_ASSIGN(const int code, daemon->WaitForExit(kLimit));
  CHECK((code == 1 || code == 0));  // 0: it was quicker than the signal
}

TEST_CASE_METHOD(DaemonTest, "json logs are one object a line", "[vicinityd]") {
  const auto daemon = StartServing({"--log-format", "json", "--shards", "1"});
  daemon->Signal(SIGTERM);
  VICINITY_ASSERT_OK_AND_ASSIGN(const int code, daemon->WaitForExit(kLimit));
  CHECK(code == 0);
  std::istringstream lines(daemon->output());
  int num_lines = 0;
  for (std::string line; std::getline(lines, line); ++num_lines) {
    CAPTURE(line);
    CHECK(nlohmann::json::parse(line, nullptr, false).contains("msg"));
  }
  CHECK(num_lines >= 3);
}

TEST_CASE_METHOD(DaemonTest, "the daemon serves its part of a cluster file", "[vicinityd]") {
  VICINITY_REQUIRE_OK(
      WriteFileAtomically(folder_.File("cluster.textproto"),
                          "data: \"graph\" num_shards: 2\n"
                          "servers { name: \"a\" listen: \"127.0.0.1:0\" shards: 0 }\n"
                          "servers { name: \"b\" listen: \"127.0.0.1:0\" shards: 1 }\n"));
  const auto daemon = Start({"--cluster", folder_.File("cluster.textproto"), "--name", "b"});
  VICINITY_REQUIRE_OK(daemon->WaitForLine("serving shards 1 of", kLimit));
}

TEST_CASE_METHOD(DaemonTest, "misuse exits 2, with the fault's file and line", "[vicinityd]") {
  const auto [flag_code, flag_output] = RunToEnd({"--max-cals", "5"});
  CHECK(flag_code == 2);
  CHECK(flag_output ==
        "vicinityd: there is no flag --max-cals; did you mean --max-calls?\n"
        "(`vicinityd --help` shows examples and the flags)\n");
  CHECK(RunToEnd({}).first == 2);
  const std::string path = folder_.File("cluster.textproto");
  VICINITY_REQUIRE_OK(
      WriteFileAtomically(path,
                          "data: \"graph\"\nnum_shards: 2\n"
                          "servers { name: \"a\" listen: \"127.0.0.1:0\" shards: [0, 1] }\n"
                          "servers { name: \"b\" listen: \"127.0.0.1:0\"\n  shards: 7 }\n"));
  const auto [code, output] = RunToEnd({"--cluster", path, "--name", "a"});
  CHECK(code == 2);
  CHECK_THAT(output, Catch::Contains(path + ":5: "));
  CHECK_THAT(output, Catch::Contains("shard 7"));
  const auto [network_code, network_output] =
      RunToEnd({"--data", folder_.File("graph"), "--listen", "0.0.0.0:0"});
  CHECK(network_code == 2);
  CHECK_THAT(network_output,
             Catch::Contains("vicinity certificate ca") && Catch::Contains("--open"));
}

TEST_CASE_METHOD(DaemonTest, "what cannot be served exits with what to do, and the reason",
                 "[vicinityd]") {
  const auto [missing_code, missing_output] =
      RunToEnd({"--data", folder_.File("nothing"), "--listen", "127.0.0.1:0"});
  CHECK(missing_code == 3);
  CHECK_THAT(missing_output, Catch::Contains(folder_.File("nothing")));
  const auto [file_code, file_output] =
      RunToEnd({"--cluster", folder_.File("nothing"), "--name", "a"});
  CHECK(file_code == 3);
  CHECK_THAT(file_output, Catch::Contains(folder_.File("nothing")));
  const std::string cluster = folder_.File("of-three");
  VICINITY_REQUIRE_OK(WriteFileAtomically(
      cluster,
      "data: 'graph' num_shards: 3 servers { name: 'a' listen: '127.0.0.1:0' shards: [0, 1] }"
      "servers { name: 'b' listen: '127.0.0.1:0' shards: 2 }"));
  CHECK(RunToEnd({"--cluster", cluster, "--name", "a"}).first == 7);

  const auto daemon = StartServing();
  VICINITY_ASSERT_OK_AND_ASSIGN(std::string address, ReadFile(folder_.File("ready")));
  address.pop_back();
  const auto [code, output] = RunToEnd({"--data", folder_.File("graph"), "--listen", address});
  CHECK(code == 1);
  CHECK_THAT(output, Catch::Contains(address));
  CHECK_THAT(output, Catch::Contains("Address already in use"));
  CHECK_THAT(output, Catch::Contains(absl::StrCat("pid ", daemon->pid(), " (vicinityd)")));
}

TEST_CASE_METHOD(DaemonTest, "two servers do not share a folder of changes", "[vicinityd]") {
  const std::string changes = folder_.File("changes");
  const auto daemon = StartServing({"--changes", changes});
  const auto [code, output] =
      RunToEnd({"--data", folder_.File("graph"), "--changes", changes, "--listen", "127.0.0.1:0"});
  CHECK(code == 7);
  CHECK_THAT(output, Catch::Contains(absl::StrCat("process ", daemon->pid(), " (vicinityd)")) &&
                         Catch::Contains(changes) && Catch::Contains("stop that one"));
  daemon->Signal(SIGTERM);
  VICINITY_ASSERT_OK_AND_ASSIGN(const int ended, daemon->WaitForExit(kLimit));
  CHECK(ended == 0);
}

TEST_CASE_METHOD(DaemonTest, "help and version exit 0", "[vicinityd]") {
  const auto [code, output] = RunToEnd({"--help"});
  CHECK(code == 0);
  CHECK_THAT(output, Catch::Contains("--ready-file"));
  CHECK(RunToEnd({"--version"}).first == 0);
}

TEST_CASE_METHOD(DaemonTest, "the daemon needs no environment and no folder of its own",
                 "[vicinityd]") {
  auto program = RunningProgram::Start({"/usr/bin/env", "-i", "server/vicinityd", "--data",
                                        folder_.File("graph"), "--listen", "127.0.0.1:0"});
  VICINITY_REQUIRE_OK(program);
  VICINITY_CHECK_OK((*program)->WaitForLine("ready in", kLimit));
}

TEST_CASE_METHOD(DaemonTest, "the daemon stops with whoever started it, if told to",
                 "[vicinityd]") {
  // A shell in between starts the daemon and is then killed. The pipe that both print to ends
  // only when the daemon, too, is gone.
  auto shell = RunningProgram::Start(
      {"/bin/sh", "-c",
       absl::StrCat("server/vicinityd --die-with-parent --drain 0 --listen 127.0.0.1:0 --data ",
                    folder_.File("graph"), " & wait")});
  VICINITY_REQUIRE_OK(shell);
  VICINITY_REQUIRE_OK((*shell)->WaitForLine("ready in", kLimit));
  (*shell)->Signal(SIGKILL);
  VICINITY_CHECK_OK((*shell)->WaitForLine("stopped", kLimit));
  VICINITY_ASSERT_OK_AND_ASSIGN(const int code, (*shell)->WaitForExit(kLimit));
  CHECK(code == 128 + SIGKILL);
}

}  // namespace
}  // namespace vicinity
