// Histories of a live graph whose servers are killed, paused, started again and promoted, and which
// is folded and swapped meanwhile, at random: whoever reads registers sees them written one after
// the other (tests/integration/fixtures/live_registers.h), and in the end all that was acknowledged
// as replicated is there, once.
//
// VICINITY_HISTORIES (2) and VICINITY_HISTORY_SECONDS (8) set how many, and how long each is.
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/cli/commands/graph/fold_command.h"
#include "client/cli/commands/live/promote_command.h"
#include "client/cli/commands/live/swap_command.h"
#include "client/cli/output/exit_code.h"
#include "client/graph.h"
#include "partition/overlay/live_values.h"
#include "tests/client/cli/run_command.h"
#include "tests/integration/fixtures/live_load.h"
#include "tests/integration/fixtures/live_registers.h"
#include "tests/testing/hosts/testbed.h"
#include "tests/testing/slow_build.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/test_size.h"

namespace vicinity {
namespace {

using cli::ExitCode;
using cli::RunCommand;
using std::chrono::milliseconds;
using testing::SizeFromEnvironment;
using testing::Testbed;
using testing::TestbedOptions;

constexpr int32_t kNumShards = 2;
constexpr int kNumServers = 3;

class History {
 public:
  explicit History(uint64_t seed) : random_(seed) {
    TestbedOptions options;
    options.graph.num_nodes = 1000;
    options.graph.num_shards = kNumShards;
    options.num_servers = kNumServers;
    options.replicas = kNumServers;
    options.live = true;
    VICINITY_ASSERT_OK_AND_ASSIGN(testbed_, Testbed::Start(options));
    data_ = testbed_->directory();
    std::vector<RegisterWriter*> writers;
    for (int number = 0; number < 4; ++number) {
      writers_.push_back(
          std::make_unique<RegisterWriter>(testbed_->graph(), number, number % kNumShards,
                                           std::vector<Durability>{Durability::kReplicated}));
      writers.push_back(writers_.back().get());
    }
    load_ = std::make_unique<LiveLoad>([this] { return Open(); }, writers, 3);
  }

  // One of what may befall the servers; why it could not be done, "" it was.
  std::string Befall() {
    std::this_thread::sleep_for(milliseconds(100 + random_() % 300));
    const int server = static_cast<int>(random_() % kNumServers);
    switch (random_() % 5) {
      case 0:
        return Text(testbed_->Restart(server));
      case 1:
        testbed_->Pause(server);
        std::this_thread::sleep_for(milliseconds(50 + random_() % 500));
        testbed_->Continue(server);
        return "";
      case 2:
        return KillAndPromote(server);
      case 3:
        return Promote({"--shards", absl::StrCat(random_() % kNumShards)});
      default:
        return FoldAndSwap();
    }
  }

  LiveLoad& load() { return *load_; }
  int num_swaps() const { return num_swaps_; }

  // What is not as it was acknowledged, now that nothing befalls them; "" nothing.
  std::string Finish() {
    std::this_thread::sleep_for(milliseconds(300));
    load_->Stop();
    if (!load_->wrong().empty()) return load_->wrong();
    const auto graph = Open();
    for (const auto& writer : writers_) {
      absl::Status written = absl::UnknownError("");
      for (const absl::Time until = absl::Now() + absl::Minutes(1);
           !written.ok() && absl::Now() < until;) {
        written = writer->Write(*graph, nullptr);
      }
      if (!written.ok()) return written.ToString();
      if (const std::string wrong = writer->WrongIn(*graph); !wrong.empty()) return wrong;
    }
    return "";
  }
  int64_t num_batches() const {
    int64_t batches = 0;
    for (const auto& writer : writers_) batches += writer->num_batches();
    return batches;
  }

 private:
  static std::string Text(const absl::Status& status) {
    return status.ok() ? "" : status.ToString();
  }

  std::shared_ptr<const Graph> Open() const {
    GraphOptions options;
    options.cluster_file = testbed_->cluster_file();
    options.connect_timeout = milliseconds(60'000);
    options.call_timeout = milliseconds(10'000);
    options.call_budget = milliseconds(20'000);
    auto graph = Graph::Open(options);
    if (!graph.ok()) FAIL(graph.error().message());
    return *std::move(graph);
  }

  std::string Promote(std::vector<std::string> flags) const {
    flags.insert(flags.end(), {"--cluster", testbed_->cluster_file(), "--timeout", "20"});
    const cli::Answer promoted = RunCommand(cli::kPromoteCommand, flags);
    return promoted.code == ExitCode::kOk ? "" : promoted.narration;
  }

  std::string KillAndPromote(int server) {
    if (const absl::Status killed = testbed_->Kill(server); !killed.ok()) return killed.ToString();
    const std::vector<std::string> from = {"--from", absl::StrCat("s", server)};
    std::string promoted = Promote(from);
    std::this_thread::sleep_for(milliseconds(random_() % 200));
    if (const absl::Status started = testbed_->Restart(server); !started.ok()) {
      return started.ToString();
    }
    // With one killed and another that is being copied anew it is right to refuse, until one of
    // them is there again.
    const auto is_of_most = [&] {
      return promoted.find("have all that they ever had") == std::string::npos;
    };
    for (int i = 0; i < 100 && !is_of_most(); ++i) {
      std::this_thread::sleep_for(milliseconds(100));
      promoted = Promote(from);
    }
    return promoted;
  }

  // A promotion may take back what was folded: then it is folded again.
  std::string FoldAndSwap() {
    const std::string next = folder_.File(absl::StrCat("fold-", ++num_folds_));
    const std::vector<std::string> from = {"--cluster", testbed_->cluster_file(), "--data", data_};
    std::vector<std::string> fold = from;
    fold.insert(fold.end(), {"--out", next});
    const cli::Answer folded = RunCommand(cli::kFoldCommand, fold);
    if (folded.code != ExitCode::kOk) return folded.narration;
    std::vector<std::string> flags = from;
    flags.insert(flags.end(), {"--to", next, "--timeout", "20"});
    cli::Answer swapped;
    const bool over = load_->DuringSwap([&] { swapped = RunCommand(cli::kSwapCommand, flags); });
    if (swapped.code != ExitCode::kOk) return swapped.narration;
    data_ = next;
    ++num_swaps_;
    return over ? "" : "writers have not gone over";
  }

  std::mt19937_64 random_;
  const testing::TempDir folder_;
  std::unique_ptr<Testbed> testbed_;
  std::string data_;
  std::vector<std::unique_ptr<RegisterWriter>> writers_;
  std::unique_ptr<LiveLoad> load_;
  int num_folds_ = 0;
  int num_swaps_ = 0;
};

TEST_CASE("whatever befalls the servers, reads and writes are in one order", "[live_history]") {
  const int64_t histories = SizeFromEnvironment("VICINITY_HISTORIES", 2);
  const absl::Duration each = absl::Seconds(SizeFromEnvironment("VICINITY_HISTORY_SECONDS", 8));
  int64_t num_read = 0;
  int64_t num_batches = 0;
  int num_befell = 0;
  int num_swaps = 0;
  for (int64_t number = 0; number < histories; ++number) {
    CAPTURE(number);
    History history(17 + number);
    for (const absl::Time until = absl::Now() + each * testing::kSlower; absl::Now() < until;) {
      REQUIRE(history.Befall() == "");
      ++num_befell;
    }
    REQUIRE(history.Finish() == "");
    num_read += history.load().num_read();
    num_batches += history.num_batches();
    num_swaps += history.num_swaps();
  }
  CHECK(num_read > 100 * histories);
  CHECK(num_batches > 10 * histories);
  std::cout << num_read << " rows read, " << num_batches << " batches, " << num_befell
            << " faults and orders, of them " << num_swaps << " swaps\n";
}

}  // namespace
}  // namespace vicinity
