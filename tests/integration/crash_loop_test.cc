// A daemon that dies whenever it opens its changes: after five times it is not started any more,
// says why and with an exit code of its own, and has left hardly anything on the disk.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "partition/overlay/failpoint.h"
#include "proto/common/ids.h"
#include "server/logging/logging.h"
#include "server/server.h"
#include "server/server_options.h"
#include "server/start_record.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/hosts/running_program.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

const absl::Duration kLimit = absl::Seconds(60);

class LoopTest {
 public:
  LoopTest() {
    const testing::MemoryGraph graph = testing::RandomGraph({});
    VICINITY_REQUIRE_OK(WriteGraph(graph, testing::Shuffled(graph, 2, 1), data()));
  }

  std::string data() const { return folder_.File("graph"); }
  std::string changes() const { return folder_.File("changes"); }
  std::string ready() const { return folder_.File("ready"); }

  // What main does, in a process that is killed at that point. True: it was.
  template <Failpoint kPoint>
  bool DieAt() const {
    const pid_t child = fork();
    if (child == 0) {
      failpoint_listener = [](Failpoint point) {
        if (point == kPoint) raise(SIGKILL);
      };
      const auto log = MakeSilentLogger();
      const auto starts = StartRecord::Begin(StartRecord::PathIn(changes(), ShardId{0}),
                                             /*force=*/false, absl::Now(), log.get());
      if (!starts.ok()) _exit(kDiesAgainExitCode);
      ServerOptions options;
      options.data = data();
      options.changes = changes();
      const auto server = Server::Start(options);
      _exit(server.ok() ? 0 : 1);
    }
    REQUIRE(child > 0);
    int how = 0;
    REQUIRE(waitpid(child, &how, 0) == child);
    return WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL;
  }

  std::unique_ptr<testing::RunningProgram> StartDaemon(const std::vector<std::string>& flags) {
    std::filesystem::remove(ready());
    std::vector<std::string> command = {
        "server/vicinityd", "--data",  data(), "--changes",    changes(), "--listen",
        "127.0.0.1:0",      "--drain", "0",    "--ready-file", ready()};
    command.insert(command.end(), flags.begin(), flags.end());
    auto daemon = testing::RunningProgram::Start(command);
    VICINITY_REQUIRE_OK(daemon.status());
    return *std::move(daemon);
  }
  bool WaitUntilReady() const {
    const absl::Time end = absl::Now() + kLimit;
    while (!std::filesystem::exists(ready()) && absl::Now() < end) {
      absl::SleepFor(absl::Milliseconds(5));
    }
    return std::filesystem::exists(ready());
  }
  int64_t NumFiles() const {
    int64_t count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(changes())) {
      count += entry.is_regular_file() ? 1 : 0;
    }
    return count;
  }

  int64_t BytesOnDisk() const {
    int64_t bytes = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(changes())) {
      struct stat file {};
      if (entry.path().filename() == "reserve-00000") continue;
      if (stat(entry.path().c_str(), &file) == 0) bytes += int64_t{file.st_blocks} * 512;
    }
    return bytes;
  }

  const testing::TempDir folder_;
};

TEST_CASE_METHOD(LoopTest,
                 "a daemon that dies whenever it opens its changes is not started for ever",
                 "[crash_loop]") {
  for (size_t time = 0; time < StartRecord::kMost; ++time) {
    REQUIRE(DieAt<Failpoint::kStoreDbOpened>());
  }
  const int64_t left = NumFiles();
  CHECK(BytesOnDisk() < int64_t{6} << 20);  // of which RocksDB keeps 4 MiB for its manifest
  for (int time = 0; time < 3; ++time) {
    const auto daemon = StartDaemon({});
    VICINITY_ASSERT_OK_AND_ASSIGN(const int code, daemon->WaitForExit(kLimit));
    CHECK(code == kDiesAgainExitCode);
    CHECK_THAT(daemon->output(), Catch::Contains("have all died") && Catch::Contains("--force"));
  }
  CHECK(NumFiles() == left);
  // Who has looked after it starts it, and it forgets when it is told to stop.
  for (const std::vector<std::string>& flags :
       std::vector<std::vector<std::string>>{{"--force"}, {}}) {
    const auto daemon = StartDaemon(flags);
    REQUIRE(WaitUntilReady());
    daemon->Signal(SIGTERM);
    VICINITY_ASSERT_OK_AND_ASSIGN(const int code, daemon->WaitForExit(kLimit));
    CHECK(code == 0);
  }
}

TEST_CASE_METHOD(LoopTest,
                 "a daemon that is killed while it serves counts until it was ready for long",
                 "[crash_loop]") {
  for (size_t time = 0; time < StartRecord::kMost; ++time) {
    const auto daemon = StartDaemon({});
    REQUIRE(WaitUntilReady());
    daemon->Signal(SIGKILL);
    VICINITY_ASSERT_OK_AND_ASSIGN(const int code, daemon->WaitForExit(kLimit));
    CHECK(code == 128 + SIGKILL);
  }
  const auto daemon = StartDaemon({});
  VICINITY_ASSERT_OK_AND_ASSIGN(const int code, daemon->WaitForExit(kLimit));
  CHECK(code == kDiesAgainExitCode);
}

TEST_CASE_METHOD(LoopTest,
                 "servers that are started beside one that serves do not keep it from being "
                 "started again",
                 "[crash_loop]") {
  const auto serves = StartDaemon({});
  REQUIRE(WaitUntilReady());
  for (size_t time = 0; time < StartRecord::kMost; ++time) {
    REQUIRE(DieAt<Failpoint::kStoreFolderMade>());  // just before it would be refused
    const auto refused = StartDaemon({});
    VICINITY_ASSERT_OK_AND_ASSIGN(const int code, refused->WaitForExit(kLimit));
    CHECK(code == 7);
    CHECK_THAT(refused->output(), Catch::Contains("another server serves from here"));
  }
  serves->Signal(SIGKILL);
  VICINITY_ASSERT_OK_AND_ASSIGN(const int killed, serves->WaitForExit(kLimit));
  CHECK(killed == 128 + SIGKILL);
  const auto again = StartDaemon({});
  REQUIRE(WaitUntilReady());
  again->Signal(SIGTERM);
  VICINITY_ASSERT_OK_AND_ASSIGN(const int code, again->WaitForExit(kLimit));
  CHECK(code == 0);
}

TEST_CASE_METHOD(LoopTest, "a start that fails with an error does not count", "[crash_loop]") {
  for (size_t time = 0; time < StartRecord::kMost + 1; ++time) {
    const auto daemon = StartDaemon({"--admin-listen", "192.0.2.1:0"});  // no address of this host
    VICINITY_ASSERT_OK_AND_ASSIGN(const int code, daemon->WaitForExit(kLimit));
    CHECK(code != kDiesAgainExitCode);
    CHECK(code != 0);
  }
}

}  // namespace
}  // namespace vicinity
