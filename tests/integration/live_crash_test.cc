// Daemons of a live graph that are killed and paused while they are written and read: what was
// acknowledged is there, once, and nobody reads what was not written, or goes back.
//
// VICINITY_CRASH_CYCLES (100) and VICINITY_LIVE_HISTORIES (4) set how much.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/graph.h"
#include "client/shards/cancellation.h"
#include "partition/overlay/live_values.h"
#include "tests/integration/fixtures/live_load.h"
#include "tests/integration/fixtures/live_registers.h"
#include "tests/testing/hosts/testbed.h"
#include "tests/testing/slow_build.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/test_size.h"

namespace vicinity {
namespace {

using std::chrono::milliseconds;
using testing::kSlower;
using testing::SizeFromEnvironment;
using testing::Testbed;
using testing::TestbedOptions;

constexpr int32_t kNumShards = 2;

struct LiveBed {
  LiveBed() {
    TestbedOptions options;
    options.graph.num_nodes = 2000;
    options.graph.num_shards = kNumShards;
    options.live = true;
    VICINITY_ASSERT_OK_AND_ASSIGN(testbed, Testbed::Start(options));
    for (int number = 0; number < 4; ++number) {
      writers.push_back(std::make_unique<RegisterWriter>(
          testbed->graph(), number, number % kNumShards,
          std::vector<Durability>{Durability::kSync, Durability::kBuffered}));
    }
  }

  std::unique_ptr<Graph> Open() const {
    GraphOptions options;
    options.cluster_file = testbed->cluster_file();
    options.connect_timeout = milliseconds(60'000);
    options.call_timeout = milliseconds(30'000);
    options.call_budget = milliseconds(60'000);
    auto graph = Graph::Open(options);
    if (!graph.ok()) FAIL(graph.error().message());
    return *std::move(graph);
  }

  std::unique_ptr<Testbed> testbed;
  std::vector<std::unique_ptr<RegisterWriter>> writers;
};

// Writers write until the daemon is killed.
void WriteUntilKilled(const LiveBed& bed, const Graph& graph, milliseconds time) {
  Cancellation cancel;
  std::vector<std::thread> threads;
  for (const auto& writer : bed.writers) {
    threads.emplace_back([&graph, &cancel, writer = writer.get()] {
      while (writer->Write(graph, &cancel).ok()) {
      }
    });
  }
  std::this_thread::sleep_for(time);
  const absl::Status killed = bed.testbed->Kill(0);
  cancel.Cancel();
  for (std::thread& thread : threads) thread.join();
  VICINITY_REQUIRE_OK(killed);
}

TEST_CASE("a daemon that is killed while it is written has all that it acknowledged, once",
          "[live_crash]") {
  LiveBed bed;
  std::mt19937_64 random(7);
  const int64_t cycles = SizeFromEnvironment("VICINITY_CRASH_CYCLES", 100) / kSlower + 1;
  absl::Duration longest;
  for (int64_t cycle = 0; cycle < cycles; ++cycle) {
    CAPTURE(cycle);
    {
      const auto graph = bed.Open();
      for (const auto& writer : bed.writers) {
        // What had no answer is asked once more, and then all of it is known.
        if (cycle > 0) VICINITY_REQUIRE_OK(writer->Write(*graph, nullptr));
        REQUIRE(writer->WrongIn(*graph) == "");
      }
      const auto versions = graph->Versions();
      REQUIRE(versions.ok());
      for (int32_t s = 0; s < kNumShards; ++s) {
        int64_t batches = 0;
        for (const auto& writer : bed.writers) {
          batches += writer->shard().value == s ? writer->num_batches() : 0;
        }
        REQUIRE(static_cast<int64_t>((*versions)[s].version) == batches);
      }
      WriteUntilKilled(bed, *graph, milliseconds(5 + random() % 80));
    }
    const absl::Time before = absl::Now();
    VICINITY_REQUIRE_OK(bed.testbed->Restart(0));
    longest = std::max(longest, absl::Now() - before);
  }
  int64_t batches = 0;
  for (const auto& writer : bed.writers) batches += writer->num_batches();
  CHECK(batches > cycles);
  std::cout << cycles << " kills, " << batches << " batches, the longest start took "
            << absl::FormatDuration(longest) << "\n";
}

TEST_CASE(
    "whoever reads rows that are written sees them one after the other, whatever befalls the "
    "daemon",
    "[live_crash]") {
  const int64_t histories = SizeFromEnvironment("VICINITY_LIVE_HISTORIES", 4);
  int64_t num_read = 0;
  int64_t num_failed = 0;
  for (int64_t history = 0; history < histories; ++history) {
    CAPTURE(history);
    LiveBed bed;
    std::mt19937_64 random(history + 1);
    std::vector<RegisterWriter*> writers;
    for (const auto& writer : bed.writers) writers.push_back(writer.get());
    LiveLoad load([&] { return bed.Open(); }, writers, 3);
    absl::Status befell;
    for (int fault = 0; fault < 6 && befell.ok(); ++fault) {
      std::this_thread::sleep_for(milliseconds(100 + random() % 200));
      if (random() % 2 == 0) {
        befell = bed.testbed->Restart(0);
      } else {
        bed.testbed->Pause(0);
        std::this_thread::sleep_for(milliseconds(50 + random() % 200));
        bed.testbed->Continue(0);
      }
    }
    std::this_thread::sleep_for(milliseconds(300));
    load.Stop();
    VICINITY_REQUIRE_OK(befell);
    CHECK(load.wrong() == "");
    num_read += load.num_read();
    num_failed += load.num_failed();
    const auto graph = load.graph();
    for (RegisterWriter* const writer : writers) {
      VICINITY_REQUIRE_OK(writer->Write(*graph, nullptr));
      CHECK(writer->WrongIn(*graph) == "");
      CHECK(writer->num_batches() > 1);
    }
  }
  CHECK(num_read > 100 * histories);
  std::cout << num_read << " rows read, " << num_failed << " calls failed\n";
}

}  // namespace
}  // namespace vicinity
