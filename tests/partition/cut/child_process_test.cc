#include "partition/cut/child_process.h"

#include <signal.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/common/file.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

ChildOptions Shell(const testing::TempDir& folder, const std::string& script) {
  ChildOptions options;
  options.program = "/bin/sh";
  options.arguments = {"-c", script};
  options.log_path = folder.File("log");
  return options;
}

// Gone, or not buried yet.
bool IsDead(pid_t process) {
  std::string ignored;
  std::string state;
  std::ifstream(absl::StrCat("/proc/", process, "/stat")) >> ignored >> ignored >> state;
  return state.empty() || state == "Z" || state == "X";
}

TEST_CASE("a child that ends well leaves its output in the log", "[partition]") {
  const testing::TempDir folder;
  VICINITY_ASSERT_OK_AND_ASSIGN(const ChildUsage usage,
                                RunChild(Shell(folder, "echo out; echo err >&2")));
  CHECK(usage.peak_memory_bytes > 0);
  CHECK(usage.elapsed >= absl::ZeroDuration());
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::string log, ReadFile(folder.File("log")));
  CHECK(log == "out\nerr\n");
}

TEST_CASE("a child that crashes is an error that names the signal", "[partition]") {
  const testing::TempDir folder;
  const absl::Status status = RunChild(Shell(folder, "echo last words; kill -SEGV $$")).status();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kAborted);
  CHECK_THAT(std::string(status.message()),
             Catch::Contains("signal 11") && Catch::Contains("last words"));
}

TEST_CASE("a child with an exit status is an error that tells it", "[partition]") {
  const testing::TempDir folder;
  const absl::Status status = RunChild(Shell(folder, "exit 3")).status();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kAborted);
  CHECK_THAT(std::string(status.message()), Catch::Contains("exit status 3"));
}

TEST_CASE("a child that takes too long is killed, with what it started", "[partition]") {
  const testing::TempDir folder;
  ChildOptions options = Shell(folder, "sleep 1000 & echo $! >" + folder.File("pid") + "; wait");
  options.time_limit = absl::Milliseconds(300);
  int ticks = 0;
  options.on_tick = [&ticks](absl::Duration) { ++ticks; };
  VICINITY_CHECK_CODE(RunChild(options).status(), absl::StatusCode::kDeadlineExceeded);
  CHECK(ticks > 0);
  // The grandchild gets the same signal, and dies of it when it has its next turn on a processor;
  // whoever adopted it may take a moment to bury it.
  pid_t grandchild = 0;
  std::ifstream(folder.File("pid")) >> grandchild;
  REQUIRE(grandchild > 0);
  const absl::Time end = absl::Now() + absl::Seconds(10);
  while (!IsDead(grandchild) && absl::Now() < end) absl::SleepFor(absl::Milliseconds(1));
  CHECK(IsDead(grandchild));
}

TEST_CASE("a child that closes the files it inherits is waited for all the same", "[partition]") {
  const testing::TempDir folder;
  VICINITY_CHECK_OK(
      RunChild(Shell(folder, "for i in 3 4 5 6 7 8 9; do eval \"exec $i>&-\"; done")));
}

TEST_CASE("a program that is not there is the system's error", "[partition]") {
  const testing::TempDir folder;
  ChildOptions options = Shell(folder, "");
  options.program = folder.File("nothing");
  VICINITY_CHECK_CODE(RunChild(options).status(), absl::StatusCode::kNotFound);
  options.log_path = folder.File("no/folder/log");
  VICINITY_CHECK_CODE(RunChild(options).status(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace vicinity
