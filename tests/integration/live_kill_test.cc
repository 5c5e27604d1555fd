// The tool writes a file while a server is killed under it: every row is there once.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/graph.h"
#include "client/types/version_name.h"
#include "proto/common/file.h"
#include "tests/testing/graphs/certified_graph.h"
#include "tests/testing/graphs/input_files.h"
#include "tests/testing/hosts/running_program.h"
#include "tests/testing/hosts/testbed.h"
#include "tests/testing/slow_build.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::RunningProgram;
using testing::Testbed;
using testing::TestbedOptions;

constexpr int64_t kNumNodes = 500;
constexpr int64_t kRows = 600'000;  // some ten times what is sent at once
constexpr absl::Duration kLimit = absl::Seconds(120 * testing::kSlower);

// Row i, from 0 on, in a text of line i + 2, is an edge to this node.
int64_t TargetOf(int64_t row) { return row * 7 % kNumNodes; }

class LiveKillTest {
 public:
  LiveKillTest() {
    TestbedOptions options;
    options.graph.num_nodes = kNumNodes;
    options.graph.num_shards = 2;
    options.num_servers = 2;
    options.live = true;
    VICINITY_ASSERT_OK_AND_ASSIGN(testbed_, Testbed::Start(options));
    std::string rows = "source,target\n";
    std::vector<int64_t> pairs;
    for (int64_t i = 0; i < kRows; ++i) {
      absl::StrAppend(&rows, i % 11, ",", TargetOf(i), "\n");
      pairs.insert(pairs.end(), {i % 11, TargetOf(i)});
    }
    testing::WriteInput(folder_.File("edges.csv"), rows);
    testing::WriteInput(
        folder_.File("edges.npy"),
        testing::NpyBytes("<i8", absl::StrCat("(", kRows, ", 2)"), testing::Bytes(pairs)));
  }

 protected:
  std::unique_ptr<Graph> Open() const {
    GraphOptions options;
    options.cluster_file = testbed_->cluster_file();
    auto graph = Graph::Open(options);
    INFO(graph.error().message());
    REQUIRE(graph.ok());
    return *std::move(graph);
  }

  std::unique_ptr<RunningProgram> Start(std::vector<std::string> args) const {
    std::vector<std::string> command = {"client/cli/vicinity",    "write",     "--cluster",
                                        testbed_->cluster_file(), "--timeout", "2"};
    command.insert(command.end(), args.begin(), args.end());
    auto program = RunningProgram::Start(command);
    VICINITY_REQUIRE_OK(program);
    return *std::move(program);
  }
  int End(RunningProgram* program) const {
    VICINITY_ASSERT_OK_AND_ASSIGN(const int code, program->WaitForExit(kLimit));
    return code;
  }

  // Until so many batches are there, or the program has written all.
  void WaitForVersions(uint64_t count) const {
    const std::unique_ptr<Graph> graph = Open();
    const absl::Time end = absl::Now() + kLimit;
    while (absl::Now() < end) {
      const auto versions = graph->Versions();
      if (versions.ok() && std::accumulate(versions->begin(), versions->end(), uint64_t{0},
                                           [](uint64_t sum, const VersionName& each) {
                                             return sum + each.version;
                                           }) >= count)
        return;
      absl::SleepFor(absl::Milliseconds(2));
    }
    FAIL("no batch came in time");
  }

  // Of each node by the user's id: edges beyond those in the files.
  std::vector<int64_t> NewEdges() const {
    const std::unique_ptr<Graph> graph = Open();
    std::vector<int64_t> nodes;
    for (int64_t id = 0; id < kNumNodes; ++id) nodes.push_back(testbed_->graph().GlobalOf(id));
    const auto degrees = graph->Degrees(0, nodes);
    INFO(degrees.error().message());
    REQUIRE(degrees.ok());
    std::vector<int64_t> added = *degrees;
    for (int64_t id = 0; id < kNumNodes; ++id) added[id] -= testbed_->graph().Degree(id);
    return added;
  }

  const testing::TempDir folder_;
  std::unique_ptr<Testbed> testbed_;
};

TEST_CASE_METHOD(LiveKillTest, "rows of a file are written once, whichever servers are killed",
                 "[live]") {
  const bool of_text = GENERATE(true, false);
  const auto program =
      Start({"--edges", "links", "--durability", of_text ? "sync" : "buffered", "--format", "json",
             folder_.File(of_text ? "edges.csv" : "edges.npy")});
  for (const int server : {0, 1, 0}) {
    WaitForVersions(2 + server);
    VICINITY_REQUIRE_OK(testbed_->Kill(server));
    VICINITY_REQUIRE_OK(testbed_->Restart(server));
  }
  const int code = End(program.get());
  INFO(program->output());
  REQUIRE(code == 0);
  CHECK_THAT(program->output(), Catch::Contains(absl::StrCat("\"written\": ", kRows)));
  CHECK(NewEdges() == std::vector<int64_t>(kNumNodes, kRows / kNumNodes));
}

TEST_CASE_METHOD(LiveKillTest, "a tool that gives up says which rows are open, and goes on there",
                 "[live]") {
  const bool of_text = GENERATE(true, false);
  const std::string file = folder_.File(of_text ? "edges.csv" : "edges.npy");
  const std::string letters = folder_.File("letters.jsonl");
  const auto program =
      Start({"--edges", "links", "--give-up", "0", "--dead-letter", letters, file});
  WaitForVersions(3);
  VICINITY_REQUIRE_OK(testbed_->Kill(1));
  CHECK(End(program.get()) == 4);
  VICINITY_REQUIRE_OK(testbed_->Restart(1));

  // Those that were not sent are written; of the others it is seen whether they had been.
  std::vector<int64_t> open(kNumNodes, 0);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::string kept, ReadFile(letters));
  std::istringstream lines(kept);
  std::string mended;
  int num_wrong = 0;
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json row = nlohmann::json::parse(line);
    const int64_t target = TargetOf(row["_line"].get<int64_t>() - (of_text ? 2 : 0));
    num_wrong += of_text ? row["target"] != absl::StrCat(target) : row["target"] != target;
    if (row["_reason"] == "was not sent") {
      mended += line + "\n";
    } else {
      ++open[target];
    }
  }
  CHECK(num_wrong == 0);
  const std::string& told = program->output();
  const size_t at = told.find("--from-line ");
  INFO(told);
  REQUIRE(at != std::string::npos);
  const std::string from =
      told.substr(at + 12, told.find_first_not_of("0123456789", at + 12) - at - 12);
  if (!mended.empty()) {
    VICINITY_REQUIRE_OK(WriteFileAtomically(folder_.File("mended.jsonl"), mended));
    CHECK(End(Start({"--edges", "links", folder_.File("mended.jsonl")}).get()) == 0);
  }
  CHECK(End(Start({"--edges", "links", "--from-line", from, file}).get()) == 0);

  const std::vector<int64_t> added = NewEdges();
  const int64_t missing = kRows - std::accumulate(added.begin(), added.end(), int64_t{0});
  // One batch: all of it or nothing.
  CHECK((missing == 0 || missing == std::accumulate(open.begin(), open.end(), int64_t{0})));
  for (int64_t node = 0; node < kNumNodes; ++node) {
    CHECK(added[node] == kRows / kNumNodes - (missing == 0 ? 0 : open[node]));
  }
}

}  // namespace
}  // namespace vicinity
