// A wall clock that jumps by an hour, to and fro, under servers and trainers at work.
#include "absl/time/clock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "proto/common/file.h"
#include "tests/testing/graphs/certified_graph.h"
#include "tests/testing/hosts/running_program.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::RunningProgram;

constexpr absl::Duration kLimit = absl::Seconds(120);
constexpr absl::Duration kBetweenJumps = absl::Milliseconds(50);
constexpr int kMinJumps = 20;

// How far the wall clock of programs under the shim is off.
class Clock {
 public:
  explicit Clock(const std::string& path) : path_(path) {
    VICINITY_REQUIRE_OK(WriteFileAtomically(path, std::string(sizeof(int64_t), '\0')));
    const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(fd >= 0);
    void* const page = mmap(nullptr, sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    REQUIRE(page != MAP_FAILED);
    offset_ = static_cast<std::atomic<int64_t>*>(page);
  }
  ~Clock() { munmap(offset_, sizeof(int64_t)); }
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;

  // Forth by an hour, back by two, and so on.
  void Jump() {
    const std::chrono::nanoseconds hour = std::chrono::hours(1);
    offset_->store(++jumps_ % 2 == 1 ? hour.count() : -hour.count());
  }
  int jumps() const { return jumps_; }

  std::unique_ptr<RunningProgram> Start(std::vector<std::string> command) const {
    const std::vector<std::string> shim = {"/usr/bin/env",
                                           "LD_PRELOAD=tests/testing/hosts/libclock_shim.so",
                                           "VICINITY_CLOCK_FILE=" + path_};
    command.insert(command.begin(), shim.begin(), shim.end());
    auto program = RunningProgram::Start(command);
    VICINITY_REQUIRE_OK(program);
    return *std::move(program);
  }

  // Jumps until the program has ended; its exit code.
  int JumpUntilEnd(RunningProgram* program) {
    const absl::Time end = absl::Now() + kLimit;
    for (;;) {
      Jump();
      const absl::StatusOr<int> code = program->WaitForExit(kBetweenJumps);
      if (code.ok()) return *code;
      REQUIRE(absl::Now() < end);
    }
  }

 private:
  const std::string path_;
  std::atomic<int64_t>* offset_ = nullptr;
  int jumps_ = 0;
};

TEST_CASE("a wall clock that jumps by an hour fails no call, and no stop", "[clock]") {
  const testing::TempDir folder;
  Clock clock(folder.File("clock"));
  testing::CertifiedShape shape;
  shape.num_nodes = 240'000;  // for kMinJumps on fast machines, too
  shape.num_shards = 2;
  VICINITY_REQUIRE_OK(testing::CertifiedGraph(shape).Write(folder.File("data")));
  const auto server = clock.Start({"server/vicinityd", "--data", folder.File("data"), "--listen",
                                   "127.0.0.1:0", "--ready-file", folder.File("ready")});
  VICINITY_REQUIRE_OK(server->WaitForLine("ready in", kLimit));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::string ready, ReadFile(folder.File("ready")));
  const std::string address(absl::StripSuffix(ready, "\n"));
  VICINITY_REQUIRE_OK(WriteFileAtomically(
      folder.File("cluster"),
      absl::StrCat("data: '", folder.File("data"), "' num_shards: 2 servers { name: 'a' listen: '",
                   address, "' shards: [0, 1] }\n")));

  // The shim does its work: the clock of the log is off by the hour.
  clock.Jump();
  const auto date = clock.Start({"/bin/date", "+%s"});
  VICINITY_ASSERT_OK_AND_ASSIGN(const int dated, date->WaitForExit(kLimit));
  REQUIRE(dated == 0);
  CHECK(std::stoll(date->output()) > absl::ToUnixSeconds(absl::Now()) + 3000);

  // A trainer that tries no batch again.
  const auto trainer =
      clock.Start({"tests/integration/fixtures/certified_trainer", folder.File("cluster"),
                   absl::StrCat(shape.num_nodes), absl::StrCat(shape.num_shards),
                   absl::StrCat(shape.row_bytes), "2000", "0"});
  CHECK(clock.JumpUntilEnd(trainer.get()) == 0);
  CAPTURE(trainer->output());
  CHECK_THAT(trainer->output(),
             Catch::Contains("end ") && !Catch::Contains("wrong") && !Catch::Contains("error"));
  CHECK(clock.jumps() >= kMinJumps);

  const auto status = clock.Start({"client/cli/vicinity", "status", "--server", address});
  CHECK(clock.JumpUntilEnd(status.get()) == 0);
  server->Signal(SIGTERM);
  CHECK(clock.JumpUntilEnd(server.get()) == 0);
  CHECK_THAT(server->output(), Catch::Contains("stopped"));
}

}  // namespace
}  // namespace vicinity
