// Daemons of a live graph that are killed and paused while they are written and read: what was
// acknowledged is there, once, and nobody reads what was not written, or goes back.
//
// Rows certify themselves (tests/testing/graphs/certified_graph.h): a row says which node's it is
// and which writing of it. Each row has one writer, which writes it anew with the next number, so
// what a reader may see lies between the last that was acknowledged before it asked and the last
// that was begun before it was answered: of registers with one writer each that is linearizability.
//
// VICINITY_CRASH_CYCLES (100) and VICINITY_LIVE_HISTORIES (4) set how much.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/graph.h"
#include "client/graph_impl.h"
#include "client/shards/cancellation.h"
#include "client/shards/fan_out.h"
#include "client/shards/shard_access.h"
#include "client/shards/shard_requests.h"
#include "partition/overlay/live_values.h"
#include "proto/common/ids.h"
#include "proto/live.pb.h"
#include "tests/testing/graphs/certified_graph.h"
#include "tests/testing/hosts/testbed.h"
#include "tests/testing/slow_build.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/test_size.h"

namespace vicinity {
namespace {

using std::chrono::milliseconds;
using testing::CertifiedGraph;
using testing::CertifiedShape;
using testing::kSlower;
using testing::SizeFromEnvironment;
using testing::Testbed;
using testing::TestbedOptions;

constexpr int32_t kNumShards = 2;
constexpr int64_t kRegistersOfWriter = 20;

// Of a row; a wrong one is 0.
uint64_t WritingOf(const CertifiedShape& shape, int64_t id, const std::string& row) {
  CertifiedShape written = shape;
  if (row.size() < 16) return 0;
  std::memcpy(&written.version, row.data() + 8, sizeof(written.version));
  return CertifiedGraph(written).CheckRow(id, row) == testing::RowFault::kNone ? written.version
                                                                               : 0;
}

std::string RowOf(const CertifiedShape& shape, int64_t id, uint64_t writing) {
  CertifiedShape written = shape;
  written.version = writing;
  return CertifiedGraph(written).Row(id);
}

// The row of one node. The files have writing 1.
struct Register {
  int64_t id = 0;    // the user's
  int64_t node = 0;  // global
  std::atomic<uint64_t> begun{1};
  std::atomic<uint64_t> acknowledged{1};
};

struct Written {
  uint64_t version;  // of the shard
  size_t which;      // register
  uint64_t writing;
};

// Writes rows of nodes of one shard, and an edge to one of them with every batch, so that batches
// are counted there.
//
// Threads: one at a time, but for what is atomic.
class Writer {
 public:
  Writer(const CertifiedGraph& graph, int number, int32_t shard)
      : shape_(graph.shape()), shard_{shard}, random_(number), registers_(kRegistersOfWriter) {
    session_.set_id(absl::StrCat("writer ", number));
    int64_t node = graph.FirstOf(shard) + number * kRegistersOfWriter;
    for (Register& each : registers_) {
      each.node = node;
      each.id = graph.IdOf(node++);
    }
    degree_in_files_ = graph.Degree(registers_[0].id);
  }

  // The next batch, or once more the one that has no answer yet.
  absl::Status Write(const Graph& graph, Cancellation* cancel) {
    if (pending_.empty()) Begin();
    AppliedBatch applied;
    FanOut calls;
    graph.impl().router().shard(shard_).Ask(
        ShardWrite{&session_, &batch_,
                   random_() % 2 == 0 ? Durability::kSync : Durability::kBuffered, &applied},
        cancel, calls.Add());
    if (absl::Status status = calls.Wait(); !status.ok()) return status;
    for (Written& each : pending_) {
      each.version = applied.version;
      registers_[each.which].acknowledged = each.writing;
      history_.push_back(each);
    }
    pending_.clear();
    ++num_batches_;
    return absl::OkStatus();
  }

  // What is not as it was acknowledged; "" nothing. Nobody writes meanwhile.
  std::string WrongIn(const Graph& graph) {
    std::vector<int64_t> nodes;
    for (const Register& each : registers_) nodes.push_back(each.node);
    const auto rows = graph.Fetch(0, "features", nodes);
    if (!rows.ok()) return rows.error().message();
    for (size_t i = 0; i < registers_.size(); ++i) {
      const std::string row(rows->bytes.data() + i * shape_.row_bytes, shape_.row_bytes);
      const uint64_t writing = WritingOf(shape_, registers_[i].id, row);
      if (writing == registers_[i].acknowledged) continue;
      return absl::StrCat("node ", registers_[i].id, " has writing ", writing, ", acknowledged is ",
                          registers_[i].acknowledged.load());
    }
    const auto degrees = graph.Degrees(0, {registers_[0].node});
    if (!degrees.ok()) return degrees.error().message();
    if (degrees->front() != degree_in_files_ + num_batches_) {
      return absl::StrCat(degrees->front(), " edges after ", num_batches_, " batches and ",
                          degree_in_files_, " in the files");
    }
    return WrongEarlier(graph);
  }

  std::deque<Register>& registers() { return registers_; }
  const CertifiedShape& shape() const { return shape_; }
  int64_t num_batches() const { return num_batches_; }
  ShardId shard() const { return shard_; }

 private:
  void Begin() {
    session_.set_sequence(session_.sequence() + 1);
    batch_.Clear();
    proto::NodeRows& part = *batch_.add_node_rows();
    const size_t first = random_() % registers_.size();
    for (size_t i = 0; i < 3; ++i) {
      const size_t which = (first + i) % registers_.size();
      Register& each = registers_[which];
      pending_.push_back({0, which, ++each.begun});
      part.add_nodes(static_cast<uint64_t>(each.node));
      part.mutable_values()->mutable_rows()->append(RowOf(shape_, each.id, each.begun));
    }
    proto::NewEdges& edges = *batch_.add_new_edges();
    edges.add_sources(static_cast<uint64_t>(registers_[first].node));
    edges.add_targets(static_cast<uint64_t>(registers_[0].node));
  }

  // Some of the batches, at their versions.
  std::string WrongEarlier(const Graph& graph) {
    for (int i = 0; i < 3 && !history_.empty(); ++i) {
      const Written& then = history_[random_() % history_.size()];
      std::vector<uint64_t> versions(kNumShards, 0);
      versions[shard_.value] = then.version;
      const auto pinned = graph.At(versions);
      if (!pinned.ok()) return pinned.error().message();
      const Register& of = registers_[then.which];
      const auto row = (*pinned)->Fetch(0, "features", {of.node});
      if (!row.ok()) return row.error().message();
      const uint64_t writing =
          WritingOf(shape_, of.id, std::string(row->bytes.begin(), row->bytes.end()));
      if (writing != then.writing) {
        return absl::StrCat("node ", of.id, " at version ", then.version, " has writing ", writing,
                            ", it was ", then.writing);
      }
    }
    return "";
  }

  const CertifiedShape shape_;
  const ShardId shard_;
  std::mt19937_64 random_;
  std::deque<Register> registers_;
  int64_t degree_in_files_ = 0;
  proto::WriteSession session_;
  proto::WriteBatch batch_;
  std::vector<Written> pending_;  // of the batch that has no answer yet
  std::vector<Written> history_;
  int64_t num_batches_ = 0;  // acknowledged
};

struct LiveBed {
  LiveBed() {
    TestbedOptions options;
    options.graph.num_nodes = 2000;
    options.graph.num_shards = kNumShards;
    options.live = true;
    VICINITY_ASSERT_OK_AND_ASSIGN(testbed, Testbed::Start(options));
    for (int number = 0; number < 4; ++number) {
      writers.push_back(std::make_unique<Writer>(testbed->graph(), number, number % kNumShards));
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
  std::vector<std::unique_ptr<Writer>> writers;
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
        REQUIRE(static_cast<int64_t>((*versions)[s]) == batches);
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

// Reads rows that others write, and keeps what it saw of each.
class Reader {
 public:
  Reader(std::vector<Writer*> writers, int number)
      : writers_(std::move(writers)), random_(number) {}

  void Read(const Graph& graph) {
    Writer& writer = *writers_[random_() % writers_.size()];
    Register& each = writer.registers()[random_() % writer.registers().size()];
    const uint64_t least = each.acknowledged;
    const auto row = graph.Fetch(0, "features", {each.node});
    const uint64_t most = each.begun;
    ++(row.ok() ? num_read_ : num_failed_);
    if (!row.ok()) return;
    const uint64_t writing =
        WritingOf(writer.shape(), each.id, std::string(row->bytes.begin(), row->bytes.end()));
    uint64_t& seen = seen_[&each];
    if (writing < least || writing > most || writing < seen) {
      wrong_ = absl::StrCat("node ", each.id, ": writing ", writing, ", acknowledged ", least,
                            ", begun ", most, ", seen before ", seen);
    }
    seen = writing;
  }

  int64_t num_read() const { return num_read_; }
  int64_t num_failed() const { return num_failed_; }
  const std::string& wrong() const { return wrong_; }

 private:
  const std::vector<Writer*> writers_;
  std::mt19937_64 random_;
  std::map<const Register*, uint64_t> seen_;
  int64_t num_read_ = 0;
  int64_t num_failed_ = 0;
  std::string wrong_;
};

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
    const auto graph = bed.Open();
    std::vector<Writer*> writers;
    for (const auto& writer : bed.writers) writers.push_back(writer.get());
    std::deque<Reader> readers;
    for (int number = 0; number < 3; ++number) readers.emplace_back(writers, number);
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (Writer* const writer : writers) {
      threads.emplace_back([&, writer] {
        // An error leaves the batch for the next call, which asks it once more.
        while (!stop) static_cast<void>(writer->Write(*graph, nullptr));
      });
    }
    for (Reader& reader : readers) {
      threads.emplace_back([&] {
        while (!stop) reader.Read(*graph);
      });
    }
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
    stop = true;
    for (std::thread& thread : threads) thread.join();
    VICINITY_REQUIRE_OK(befell);
    for (const Reader& reader : readers) {
      CHECK(reader.wrong() == "");
      num_read += reader.num_read();
      num_failed += reader.num_failed();
    }
    for (Writer* const writer : writers) {
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
