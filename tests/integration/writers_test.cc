// Writers that are killed, or whose disk fails: what is there afterwards is whole.
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/ranking.h"
#include "partition/writing/audit.h"
#include "proto/common/file.h"
#include "proto/common/progress.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/hosts/running_program.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

namespace fs = std::filesystem;
using testing::RunningProgram;

constexpr absl::Duration kLimit = absl::Seconds(60);
constexpr int kNumKills = 25;      // of each writer
constexpr int kMostFailures = 64;  // of one kind of call, of each writer

struct End {
  int code = 0;
  std::string output;
};

// A folder with what the writers read: `edges.csv`, the dataset `typed` and `cut`, one in two
// shards that rankings go into. They write `out`.
class WritersTest {
 public:
  WritersTest() {
    std::string edges;
    for (int i = 0; i < 2000; ++i) absl::StrAppend(&edges, i * 7 % 300, ",", i * i % 300, "\n");
    VICINITY_REQUIRE_OK(WriteFileAtomically(folder_.File("edges.csv"), edges));
    const testing::MemoryGraph typed = testing::TypedGraph(60, 40, 20, 1);
    VICINITY_REQUIRE_OK(WriteGraph(typed, testing::Shuffled(typed, 1, 1), folder_.File("typed")));
    const testing::MemoryGraph graph = testing::RandomGraph({});
    VICINITY_REQUIRE_OK(WriteGraph(graph, testing::Shuffled(graph, 2, 5), cut()));
  }

 protected:
  std::string out() const { return folder_.File("out"); }
  std::string cut() const { return folder_.File("cut"); }

  std::vector<std::string> Import() const {
    return {"client/cli/vicinity",     "import",   "--edges",
            folder_.File("edges.csv"), "--output", out()};
  }
  std::vector<std::string> Partition() const {
    return {"client/cli/vicinity",
            "partition",
            "--input",
            folder_.File("typed"),
            "--output",
            out(),
            "--shards",
            "3",
            "--assigner",
            "hash",
            "--fanouts",
            "2",
            "--batch-size",
            "4"};
  }
  // Another ranking of the same name each time.
  std::vector<std::string> Rank(int i) const {
    return {"client/cli/vicinity",   "rank",    cut(), "--fanouts",
            absl::StrCat(1 + i % 5), "--seeds", "all", "--batch-size",
            absl::StrCat(2 + i)};
  }

  static std::unique_ptr<RunningProgram> Start(const std::vector<std::string>& command) {
    auto program = RunningProgram::Start(command);
    VICINITY_REQUIRE_OK(program);
    return *std::move(program);
  }
  static End Run(const std::vector<std::string>& command) {
    const auto program = Start(command);
    VICINITY_ASSERT_OK_AND_ASSIGN(const int code, program->WaitForExit(kLimit));
    return {code, program->output()};
  }

  // With the disk failing in the at-th of these calls; 0: in none.
  End RunFailing(const std::string& call, int at, std::vector<std::string> command) const {
    fs::remove(told());
    const std::vector<std::string> failing = {"/usr/bin/env",
                                              "LD_PRELOAD=tests/testing/hosts/libdisk_shim.so",
                                              absl::StrCat("VICINITY_DISK_BELOW=", folder_.path()),
                                              absl::StrCat("VICINITY_DISK_CALL=", call),
                                              absl::StrCat("VICINITY_DISK_AT=", at),
                                              absl::StrCat("VICINITY_DISK_TOLD=", told())};
    command.insert(command.begin(), failing.begin(), failing.end());
    return Run(command);
  }
  std::string Told() const { return ReadFile(told()).value_or(""); }

  // Of `out`: whole, or not there.
  void CheckOutput() const {
    if (!fs::exists(out())) return;
    VICINITY_CHECK_OK(VerifyDataset(out(), NoProgress()));
  }
  // Of `cut`: whole, and with a whole ranking if there was one.
  void CheckRanked() const {
    VICINITY_CHECK_OK(VerifyDataset(cut(), NoProgress()));
    VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, Dataset::Open(cut()));
    VICINITY_CHECK_OK(Ranking::Open(*dataset, kDefaultRanking, {0}, {0}));
  }
  // What nobody lists: left by writers that ended in the midst of their work.
  int NumLeftovers() const {
    int leftovers = 0;
    for (const auto& entry : fs::recursive_directory_iterator(cut())) {
      leftovers += absl::StrContains(entry.path().string(), ".tmp.");
    }
    return leftovers + fs::exists(out() + ".partial");
  }

  // Lets the disk fail in one call of `command` after the other, in kMostFailures of them where
  // there are more; returns in how many.
  int FailEach(const std::string& call, const std::function<std::vector<std::string>(int)>& command,
               const std::function<void()>& check) const {
    fs::remove_all(out());
    REQUIRE(RunFailing(call, 0, command(0)).code == 0);
    const std::string all = Told();
    const auto calls = static_cast<int>(std::count(all.begin(), all.end(), '\n'));
    const int failures = std::min(calls, kMostFailures);
    for (int i = 0; i < failures; ++i) {
      const int at = 1 + static_cast<int>(int64_t{i} * calls / failures);
      fs::remove_all(out());
      const End end = RunFailing(call, at, command(at));
      CAPTURE(call, at, end.output);
      CHECK_THAT(Told(), Catch::Contains("failed"));
      CHECK(end.code != 0);
      CHECK(end.code < 128);
      CHECK_THAT(end.output, Catch::Contains("Input/output error"));
      check();
      // What was not synced, or not even written, is not published.
      if (absl::StrContains(end.output, ".partial/")) CHECK_FALSE(fs::exists(out()));
      CHECK_FALSE(fs::exists(out() + ".partial"));
    }
    return failures;
  }

  // Kills `command` at moments of the time that it takes.
  void KillOften(const std::function<std::vector<std::string>(int)>& command,
                 const std::function<void()>& check) {
    const absl::Time begin = absl::Now();
    const End whole = Run(command(0));
    CAPTURE(whole.output);
    REQUIRE(whole.code == 0);
    const absl::Duration takes = absl::Now() - begin;
    std::uniform_real_distribution<double> share(0, 1.1);
    int killed = 0;
    for (int i = 1; i <= kNumKills; ++i) {
      fs::remove_all(out());
      const auto program = Start(command(i));
      program->WaitForExit(share(random_) * takes).status().IgnoreError();
      program->Signal(SIGKILL);
      VICINITY_ASSERT_OK_AND_ASSIGN(const int code, program->WaitForExit(kLimit));
      CAPTURE(i, code, program->output());
      CHECK((code == 0 || code == 128 + SIGKILL));
      killed += code != 0;
      check();
    }
    CHECK(killed > 0);
    fs::remove_all(out());
    const End again = Run(command(1));
    CAPTURE(again.output);
    CHECK(again.code == 0);
    check();
    CHECK(NumLeftovers() == 0);
  }

  const testing::TempDir folder_;

 private:
  std::string told() const { return folder_.path() + "-told"; }

  std::mt19937 random_{20260301};
};

TEST_CASE_METHOD(WritersTest, "an import that is killed leaves a whole dataset or none",
                 "[writers]") {
  KillOften([this](int) { return Import(); }, [this] { CheckOutput(); });
}

TEST_CASE_METHOD(WritersTest, "a partition that is killed leaves a whole dataset or none",
                 "[writers]") {
  KillOften([this](int) { return Partition(); }, [this] { CheckOutput(); });
}

TEST_CASE_METHOD(WritersTest, "a rank that is killed leaves the old ranking or the new one",
                 "[writers]") {
  KillOften([this](int i) { return Rank(i); }, [this] { CheckRanked(); });
}

TEST_CASE_METHOD(WritersTest, "four ranks at once are all kept", "[writers]") {
  std::vector<std::unique_ptr<RunningProgram>> ranks;
  for (int i = 0; i < 4; ++i) {
    std::vector<std::string> command = Rank(i);
    command.insert(command.end(), {"--name", absl::StrCat("r", i)});
    ranks.push_back(Start(command));
  }
  for (const auto& rank : ranks) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const int code, rank->WaitForExit(kLimit));
    CHECK(code == 0);
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, Dataset::Open(cut()));
  CHECK(dataset->manifest().rankings_size() == 4);
}

TEST_CASE_METHOD(WritersTest, "a writer whose disk fails once says so, and publishes nothing of it",
                 "[writers]") {
  int failures = 0;
  for (const std::string call : {"read", "write", "sync"}) {
    const auto whole_output = [this] { CheckOutput(); };
    failures += FailEach(
        call, [this](int) { return Import(); }, whole_output);
    failures += FailEach(
        call, [this](int) { return Partition(); }, whole_output);
    failures += FailEach(
        call, [this](int i) { return Rank(i); }, [this] { CheckRanked(); });
  }
  CHECK(failures >= 200);
  fs::remove_all(out());
  CHECK(Run(Partition()).code == 0);
  CHECK(Run(Rank(1)).code == 0);
  CHECK(NumLeftovers() == 0);
}

}  // namespace
}  // namespace vicinity
