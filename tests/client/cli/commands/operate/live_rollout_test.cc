// `vicinity rollout restart` of a live, replicated cluster of real daemons while it is written and
// read: every server is another process afterwards, each shard has the writer that it had, no write
// came to its deadline, and what was acknowledged is there.
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/cli/commands/live/promote_command.h"
#include "client/cli/commands/operate/rollout_command.h"
#include "client/cli/commands/shards_command.h"
#include "client/cli/output/exit_code.h"
#include "client/graph.h"
#include "partition/overlay/live_values.h"
#include "tests/client/cli/run_command.h"
#include "tests/integration/fixtures/live_registers.h"
#include "tests/testing/hosts/testbed.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using cli::Answer;
using cli::ExitCode;
using cli::RunCommand;
using std::chrono::milliseconds;
using testing::Testbed;
using testing::TestbedOptions;

constexpr int kServers = 3;
constexpr int32_t kShards = 2;

TestbedOptions LiveAndReplicated() {
  TestbedOptions options;
  options.graph.num_nodes = 1000;
  options.graph.num_shards = kShards;
  options.num_servers = kServers;
  options.replicas = kServers;
  options.live = true;
  return options;
}

// A writer that goes on, one batch after the other, and keeps the first error.
class GoingOn {
 public:
  GoingOn(const std::string& cluster_file, RegisterWriter* writer) : writer_(*writer) {
    GraphOptions options;
    options.cluster_file = cluster_file;
    options.connect_timeout = milliseconds(60'000);
    options.call_timeout = milliseconds(10'000);
    options.call_budget = milliseconds(30'000);
    auto graph = Graph::Open(options);
    REQUIRE(graph.ok());
    graph_ = *std::move(graph);
    thread_ = std::thread([this] { Run(); });
  }
  ~GoingOn() { Stop(); }
  GoingOn(const GoingOn&) = delete;
  GoingOn& operator=(const GoingOn&) = delete;

  void Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  // When stopped.
  const absl::Status& failed() const { return failed_; }
  absl::Duration longest() const { return longest_; }
  std::string Wrong() { return writer_.WrongIn(*graph_); }

 private:
  void Run() {
    while (!stop_ && failed_.ok()) {
      const absl::Time begin = absl::Now();
      failed_ = writer_.Write(*graph_, nullptr);
      longest_ = std::max(longest_, absl::Now() - begin);
    }
  }

  RegisterWriter& writer_;
  std::unique_ptr<Graph> graph_;
  std::atomic<bool> stop_{false};
  absl::Status failed_;
  absl::Duration longest_;
  std::thread thread_;
};

class RolloutTest {
 protected:
  RolloutTest() {
    VICINITY_ASSERT_OK_AND_ASSIGN(testbed_, Testbed::Start(LiveAndReplicated()));
    // So that there is a server that writes one shard, another, and none.
    const Answer promoted = RunCommand(
        cli::kPromoteCommand,
        {"--cluster", testbed_->cluster_file(), "--shards", "1", "--to", "s1", "--timeout", "20"});
    REQUIRE(promoted.code == ExitCode::kOk);
  }

  // What each command asks for, here: only this thread may start servers.
  Answer Roll(const std::vector<std::string>& more) {
    std::vector<std::string> args = {
        "restart",
        "--cluster",
        testbed_->cluster_file(),
        "--yes",
        "--format",
        "json",
        "--timeout",
        "20",
        "--command-limit",
        "120",
        "--command",
        absl::StrCat("f=", folder_.File(""),
                     "/{name}; touch $f; while [ -e $f ]; do sleep 0.05; done")};
    args.insert(args.end(), more.begin(), more.end());
    std::atomic<bool> done{false};
    Answer answer;
    std::thread rollout([&] {
      answer = RunCommand(cli::kRolloutCommand, args);
      done = true;
    });
    while (!done) {
      for (int server = 0; server < kServers; ++server) {
        const std::string asked = folder_.File(absl::StrCat("s", server));
        if (!std::filesystem::exists(asked)) continue;
        const absl::Status started = testbed_->Restart(server);
        std::filesystem::remove(asked);
        VICINITY_CHECK_OK(started);
      }
      std::this_thread::sleep_for(milliseconds(20));
    }
    rollout.join();
    return answer;
  }
  std::vector<int> Pids() const {
    std::vector<int> pids;
    for (int server = 0; server < kServers; ++server) pids.push_back(testbed_->pid(server));
    return pids;
  }
  // By shard, as its first server knows it.
  std::vector<std::string> Writers() const {
    const Answer answer = RunCommand(cli::kShardsCommand,
                                     {"--cluster", testbed_->cluster_file(), "--format", "json"});
    const nlohmann::json shards = nlohmann::json::parse(answer.out)["shards"];
    std::vector<std::string> writers;
    for (const nlohmann::json& shard : shards) {
      writers.push_back(shard["replicas"][0]["writer"]);
    }
    return writers;
  }

  const testing::TempDir folder_;
  std::unique_ptr<Testbed> testbed_;
};

TEST_CASE_METHOD(RolloutTest, "a cluster is rolled while it is written, and writers notice nothing",
                 "[rollout]") {
  REQUIRE(Writers() == std::vector<std::string>{"s0", "s1"});
  const std::vector<int> before = Pids();
  std::vector<std::unique_ptr<RegisterWriter>> registers;
  std::vector<std::unique_ptr<GoingOn>> writers;
  for (int number = 0; number < 3; ++number) {
    registers.push_back(std::make_unique<RegisterWriter>(
        testbed_->graph(), number, number % kShards,
        std::vector<Durability>{Durability::kReplicated, Durability::kSync}));
    writers.push_back(std::make_unique<GoingOn>(testbed_->cluster_file(), registers.back().get()));
  }
  const Answer answer = Roll({});
  for (const auto& writer : writers) writer->Stop();
  INFO(answer.narration);
  CHECK(answer.code == ExitCode::kOk);
  const nlohmann::json servers = nlohmann::json::parse(answer.out)["servers"];
  REQUIRE(servers.size() == kServers);
  for (const nlohmann::json& server : servers) CHECK(server["state"] == "restarted");
  const std::vector<int> after = Pids();
  for (int server = 0; server < kServers; ++server) CHECK(before[server] != after[server]);
  CHECK(Writers() == std::vector<std::string>{"s0", "s1"});
  CHECK_THAT(answer.narration, Catch::Contains("s0: others write shard 0") &&
                                   Catch::Contains("s0: writes shard 0 again") &&
                                   Catch::Contains("s1: others write shard 1") &&
                                   !Catch::Contains("s2: others write"));
  for (size_t i = 0; i < writers.size(); ++i) {
    VICINITY_CHECK_OK(writers[i]->failed());
    CHECK(writers[i]->Wrong() == "");
    CHECK(registers[i]->num_batches() > 10);
    UNSCOPED_INFO("writer " << i << ": " << registers[i]->num_batches() << " batches, the longest "
                            << absl::FormatDuration(writers[i]->longest()));
  }
}

TEST_CASE_METHOD(RolloutTest, "a server whose shards nobody can take is not touched", "[rollout]") {
  VICINITY_REQUIRE_OK(testbed_->Kill(1));
  VICINITY_REQUIRE_OK(testbed_->Kill(2));
  const std::vector<int> before = Pids();
  const Answer answer = Roll({"--name", "s0", "--force"});
  CHECK(answer.code == ExitCode::kDegraded);
  CHECK_THAT(answer.narration, Catch::Contains("shard 0: "));
  CHECK(nlohmann::json::parse(answer.out)["servers"][0]["state"] == "failed");
  CHECK(Pids() == before);
}

}  // namespace
}  // namespace vicinity
