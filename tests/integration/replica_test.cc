// Trainers read from real daemons that hold every shard twice, while one after the other is killed,
// paused, cut off, replaced or restarted: no trainer notices but by its clock.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/graph.h"
#include "client/loader.h"
#include "client/types/result.h"
#include "tests/integration/fixtures/certified_reader.h"
#include "tests/testing/chaos/chaos_flow.h"
#include "tests/testing/chaos/chaos_proxy.h"
#include "tests/testing/graphs/certified_graph.h"
#include "tests/testing/hosts/running_program.h"
#include "tests/testing/hosts/testbed.h"
#include "tests/testing/slow_build.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::CertifiedReader;
using testing::kSlower;
using testing::Reading;
using testing::RunningProgram;
using testing::Testbed;
using testing::TestbedOptions;
using testing::Toxics;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kVictim = 1;  // the server that things happen to
constexpr int64_t kFaultStep = 5;
constexpr milliseconds kCallTimeout(1000);
constexpr milliseconds kCallBudget(10'000);
// A stall is at most an attempt's time and an answer's; far more on a busy machine.
constexpr seconds kLongestStall(20);

// Every shard on two of the servers.
class ReplicaTest {
 protected:
  void Start(int num_servers, bool proxies, const std::vector<std::string>& flags = {}) {
    TestbedOptions options;
    options.graph.num_nodes = 4000;
    options.graph.num_shards = 3;
    options.graph.row_bytes = 256;
    options.num_servers = num_servers;
    options.replicas = 2;
    options.proxies = proxies;
    options.server_flags = flags;
    VICINITY_ASSERT_OK_AND_ASSIGN(testbed_, Testbed::Start(options));
    GraphOptions files;
    files.directory = testbed_->directory();
    expected_ = Open(files, CachePolicy::kNone)->Read(0).digests;
    REQUIRE(expected_.size() > 8 * kFaultStep);
  }

  std::unique_ptr<CertifiedReader> Open(const GraphOptions& where, CachePolicy cache) const {
    testing::ReaderOptions options;
    options.graph = where;
    options.cache = cache;
    options.cache_rows = cache == CachePolicy::kNone ? 0 : 800;
    auto reader = CertifiedReader::Open(&testbed_->graph(), options);
    INFO(reader.error().message());
    REQUIRE(reader.ok());
    return *std::move(reader);
  }
  GraphOptions Served() const {
    GraphOptions servers;
    servers.cluster_file = testbed_->cluster_file();
    servers.call_timeout = kCallTimeout;
    servers.call_budget = kCallBudget;
    return servers;
  }

  // An epoch with the fault in the middle is that of the files.
  void MustNotNotice(CachePolicy cache, const std::function<void()>& fault) const {
    const std::unique_ptr<CertifiedReader> reader = Open(Served(), cache);
    const Reading reading = reader->Read(0, 0, [&](int64_t step) {
      if (step == kFaultStep) fault();
    });
    CheckWhole(reading);
    CHECK(reading.longest_wait < kLongestStall);
  }
  void CheckWhole(const Reading& reading) const {
    INFO(reading.error.message());
    INFO(reading.verdict.first_wrong);
    REQUIRE(reading.error.ok());
    REQUIRE(reading.verdict.wrong_rows == 0);
    REQUIRE(reading.verdict.wrong_edges == 0);
    REQUIRE(reading.digests == expected_);
  }

  std::unique_ptr<Testbed> testbed_;
  std::vector<uint64_t> expected_;  // digests of epoch 0, read from the files
};

CachePolicy EveryCache() {
  return GENERATE(CachePolicy::kNone, CachePolicy::kVip, CachePolicy::kAuto);
}

TEST_CASE_METHOD(ReplicaTest, "one of two servers is killed", "[replica]") {
  Start(2, false);
  MustNotNotice(EveryCache(), [&] { VICINITY_REQUIRE_OK(testbed_->Kill(kVictim)); });
}

TEST_CASE_METHOD(ReplicaTest, "one of two servers is paused", "[replica]") {
  Start(2, false);
  MustNotNotice(EveryCache(), [&] { testbed_->Pause(kVictim); });
  testbed_->Continue(kVictim);
}

TEST_CASE_METHOD(ReplicaTest, "one of two servers is cut off", "[replica]") {
  Start(2, true);
  Toxics toxics;
  toxics.swallow = GENERATE(true, false);
  toxics.stall = !toxics.swallow;
  MustNotNotice(EveryCache(), [&] { testbed_->proxy(kVictim)->SetBoth(toxics); });
}

TEST_CASE_METHOD(ReplicaTest, "one of two servers loses its connections in mid-answer",
                 "[replica]") {
  Start(2, true);
  Toxics toxics;
  toxics.cut_after = 20'000;
  toxics.cut_by_reset = GENERATE(true, false);
  MustNotNotice(EveryCache(),
                [&] { testbed_->proxy(kVictim)->Set(testing::Direction::kToClient, toxics); });
}

TEST_CASE_METHOD(ReplicaTest, "one of two servers is replaced by one of another dataset",
                 "[replica]") {
  Start(2, false);
  MustNotNotice(EveryCache(), [&] { VICINITY_REQUIRE_OK(testbed_->Restart(kVictim, 2)); });
}

TEST_CASE_METHOD(ReplicaTest, "a server that is away when a trainer comes is used when it is there",
                 "[replica]") {
  Start(2, false);
  VICINITY_REQUIRE_OK(testbed_->Kill(kVictim));
  const Clock::time_point before = Clock::now();
  GraphOptions patient = Served();
  patient.connect_timeout = seconds(30);
  const std::unique_ptr<CertifiedReader> reader = Open(patient, CachePolicy::kNone);
  CHECK(Clock::now() - before < seconds(15));  // not the connect timeout
  CheckWhole(reader->Read(0));
  VICINITY_REQUIRE_OK(testbed_->Restart(kVictim));
  // All comes from it when it is the only one: calls wait until it is found.
  VICINITY_REQUIRE_OK(testbed_->Kill(1 - kVictim));
  CheckWhole(reader->Read(0));
}

TEST_CASE_METHOD(ReplicaTest, "when both are away that is an error within the budget",
                 "[replica]") {
  Start(2, false);
  GraphOptions impatient = Served();
  impatient.call_budget = milliseconds(1500);
  const std::unique_ptr<CertifiedReader> reader = Open(impatient, CachePolicy::kNone);
  const Reading reading = reader->Read(0, 0, [&](int64_t step) {
    if (step != kFaultStep) return;
    VICINITY_REQUIRE_OK(testbed_->Kill(0));
    testbed_->Pause(1);
  });
  REQUIRE_FALSE(reading.error.ok());
  INFO(reading.error.message());
  CHECK((reading.error.code() == ErrorCode::kUnavailable ||
         reading.error.code() == ErrorCode::kDeadlineExceeded));
  for (const int server : {0, 1}) {
    CHECK_THAT(reading.error.message(),
               Catch::Contains("at " + testbed_->address(server).ToString()));
  }
  // A batch has three calls one after the other.
  CHECK(reading.longest_wait < 3 * impatient.call_budget + kLongestStall);
  testbed_->Continue(1);
}

// Trainers in threads that read epoch 0 again and again.
class Trainers {
 public:
  using OpenReader = std::function<std::unique_ptr<CertifiedReader>(CachePolicy)>;
  Trainers(const std::vector<uint64_t>& expected, const OpenReader& open) : expected_(expected) {
    for (const CachePolicy cache : {CachePolicy::kNone, CachePolicy::kAuto}) {
      readers_.push_back(open(cache));
    }
    for (const auto& reader : readers_) threads_.emplace_back([this, &reader] { Run(*reader); });
  }
  ~Trainers() { Stop(); }

  void Stop() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  // Returns when both have ended another epoch, which no trouble since can have been in.
  void WaitForEpochs() const {
    const int64_t before = epochs_;
    const Clock::time_point end = Clock::now() + seconds(30);
    while (epochs_ < before + 4 && Clock::now() < end) std::this_thread::yield();
  }

  // After Stop.
  int64_t epochs() const { return epochs_; }
  int64_t failed() const { return failed_; }
  int64_t different() const { return different_; }
  milliseconds longest_wait() const { return milliseconds(longest_ms_.load()); }
  TrafficStats traffic() const {
    TrafficStats sum;
    for (const auto& reader : readers_) {
      const TrafficStats each = reader->traffic();
      sum.shard_calls += each.shard_calls;
      sum.attempts += each.attempts;
      sum.retries += each.retries;
      sum.hedges += each.hedges;
      sum.hedge_wins += each.hedge_wins;
      sum.quarantines += each.quarantines;
    }
    return sum;
  }
  std::string Text() const {
    const TrafficStats all = traffic();
    return absl::StrCat(epochs(), " epochs, longest wait ", longest_wait().count(), " ms, ",
                        all.shard_calls, " calls, ", all.attempts, " attempts, ", all.retries,
                        " retries, ", all.hedges, " hedges, ", all.hedge_wins, " of them first, ",
                        all.quarantines, " quarantines");
  }

 private:
  void Run(CertifiedReader& reader) {
    while (!stop_) {
      const Reading reading = reader.Read(0);
      epochs_ += reading.error.ok();
      failed_ += !reading.error.ok();
      different_ += reading.error.ok() && reading.digests != expected_;
      const int64_t waited = std::chrono::duration_cast<milliseconds>(reading.longest_wait).count();
      int64_t longest = longest_ms_;
      while (waited > longest && !longest_ms_.compare_exchange_weak(longest, waited)) {
      }
    }
  }

  const std::vector<uint64_t>& expected_;
  std::vector<std::unique_ptr<CertifiedReader>> readers_;
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> epochs_{0};
  std::atomic<int64_t> failed_{0};
  std::atomic<int64_t> different_{0};
  std::atomic<int64_t> longest_ms_{0};
  std::vector<std::thread> threads_;
};

TEST_CASE_METHOD(ReplicaTest, "servers are restarted in turn, and no call fails", "[replica]") {
  Start(3, false, {"--drain", "1"});
  Trainers trainers(expected_, [&](CachePolicy cache) { return Open(Served(), cache); });
  for (int roll = 0; roll < 5; ++roll) {
    for (int server = 0; server < 3; ++server) {
      trainers.WaitForEpochs();
      VICINITY_ASSERT_OK_AND_ASSIGN(const int code, testbed_->Terminate(server));
      CHECK(code == 0);
      VICINITY_REQUIRE_OK(testbed_->Restart(server));
    }
  }
  trainers.WaitForEpochs();
  trainers.Stop();
  WARN(trainers.Text());
  CHECK(trainers.failed() == 0);
  CHECK(trainers.different() == 0);
  CHECK(trainers.longest_wait() < seconds(5 * kSlower));  // 1 s on a quiet machine
  // Without a retry, too, nearly all succeed: servers say beforehand that they will stop.
  const TrafficStats traffic = trainers.traffic();
  CHECK(traffic.retries * 1000 <= traffic.attempts * kSlower);
}

TEST_CASE_METHOD(ReplicaTest, "servers are killed in turn, and no call fails", "[replica]") {
  Start(3, false);
  Trainers trainers(expected_, [&](CachePolicy cache) { return Open(Served(), cache); });
  for (int kill = 0; kill < 50 / kSlower; ++kill) {
    trainers.WaitForEpochs();
    VICINITY_REQUIRE_OK(testbed_->Kill(kill % 3));
    VICINITY_REQUIRE_OK(testbed_->Restart(kill % 3));
  }
  trainers.WaitForEpochs();
  trainers.Stop();
  WARN(trainers.Text());
  CHECK(trainers.failed() == 0);
  CHECK(trainers.different() == 0);
  CHECK(trainers.longest_wait() < kLongestStall);
}

// The 99th percentile of how long it takes to fetch some rows.
milliseconds FetchRowsOften(const Graph& graph, int times) {
  std::vector<int64_t> nodes;
  for (int64_t i = 0; i < 64; ++i) nodes.push_back(i * 61);
  std::vector<Clock::duration> took;
  for (int i = 0; i < times; ++i) {
    const Clock::time_point before = Clock::now();
    const Result<Rows> rows = graph.Fetch(0, "features", nodes);
    INFO(rows.error().message());
    REQUIRE(rows.ok());
    took.push_back(Clock::now() - before);
  }
  const auto p99 = took.begin() + static_cast<int64_t>(took.size()) * 99 / 100;
  std::nth_element(took.begin(), p99, took.end());
  return std::chrono::ceil<milliseconds>(*p99);
}

TEST_CASE_METHOD(ReplicaTest, "hedges keep the slowest hundredth short while a server is frozen",
                 "[replica]") {
  Start(2, false);
  Result<std::unique_ptr<Graph>> opened = Graph::Open(Served());
  REQUIRE(opened.ok());
  const Graph& graph = **opened;
  const milliseconds calm = FetchRowsOften(graph, 1000);
  testbed_->Pause(kVictim);
  const milliseconds frozen = FetchRowsOften(graph, 1000);
  const TrafficStats traffic = graph.traffic();
  WARN("p99 " << calm.count() << " ms calm, " << frozen.count() << " ms frozen, " << traffic.hedges
              << " hedges, " << traffic.quarantines << " quarantines");
  // Three times, and five times that for a busy machine.
  CHECK(frozen <= 15 * std::max(calm, milliseconds(5)));
  CHECK(traffic.hedge_wins > 0);
  CHECK(traffic.quarantines > 0);
  // It was found out, and it comes back: alone, in the end.
  testbed_->Continue(kVictim);
  VICINITY_REQUIRE_OK(testbed_->Kill(1 - kVictim));
  FetchRowsOften(graph, 10);
}

TEST_CASE_METHOD(ReplicaTest, "trainers come, leave and die, and no other notices", "[replica]") {
  Start(2, false);
  const testing::CertifiedShape& shape = testbed_->graph().shape();
  const auto trainer = [&] {
    VICINITY_ASSERT_OK_AND_ASSIGN(
        auto program, RunningProgram::Start(
                          {"tests/integration/fixtures/certified_trainer", testbed_->cluster_file(),
                           absl::StrCat(shape.num_nodes), absl::StrCat(shape.num_shards),
                           absl::StrCat(shape.row_bytes), "5000", "0"}));
    return program;
  };
  const std::unique_ptr<CertifiedReader> reader = Open(Served(), CachePolicy::kAuto);
  VICINITY_ASSERT_OK_AND_ASSIGN(const testing::ProcessUse before, testbed_->Use(0));
  std::vector<std::unique_ptr<RunningProgram>> others;
  const auto come_and_go = [&](int64_t step) {
    if (step % 6 == 0) others.push_back(trainer());
    if (step % 6 == 4) others.pop_back();  // by SIGKILL, whatever it does
  };
  CheckWhole(reader->Read(0, 0, come_and_go));
  others.push_back(trainer());
  VICINITY_ASSERT_OK_AND_ASSIGN(const int code, others.back()->WaitForExit(absl::Seconds(60)));
  CHECK(code == 0);
  CHECK_THAT(others.back()->output(),
             Catch::Contains("end ") && !Catch::Contains("wrong ") && !Catch::Contains("error "));
  others.clear();
  CheckWhole(reader->Read(0));
  // Of those that died the servers keep nothing.
  const Clock::time_point end = Clock::now() + seconds(20);
  int64_t open_files = 0;
  do {
    VICINITY_ASSERT_OK_AND_ASSIGN(const testing::ProcessUse now, testbed_->Use(0));
    open_files = now.open_files;
  } while (open_files > before.open_files && Clock::now() < end);
  CHECK(open_files <= before.open_files);
}

TEST_CASE_METHOD(ReplicaTest, "trainers that know nothing of each other make equally many steps",
                 "[replica]") {
  Start(2, false);
  Result<std::unique_ptr<Graph>> graph = Graph::Open(Served());
  REQUIRE(graph.ok());
  LoaderOptions options;
  options.sampling = SamplingSpec::Uniform((*graph)->schema(), {2});
  options.batch_size = 7;
  options.num_trainers = 4;
  options.seed_policy = GENERATE(SeedPolicy::kGlobal, SeedPolicy::kHome);
  int64_t steps = -1;
  for (options.trainer = 0; options.trainer < options.num_trainers; ++options.trainer) {
    const auto loader = Loader::Create(graph->get(), options);  // gone before the next one comes
    INFO(loader.error().message());
    REQUIRE(loader.ok());
    if (steps < 0) steps = (*loader)->steps_per_epoch();
    CHECK((*loader)->steps_per_epoch() == steps);
  }
  CHECK(steps > 0);
}

}  // namespace
}  // namespace vicinity
