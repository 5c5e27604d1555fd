// Trainers whose network fails: servers on hosts of their own, behind cables that are cut, lossy
// and slow. NET-1, NET-2 and the half-open connections of NET-4 of the reliability plan.
//
// VICINITY_NETWORK_CYCLES (30) and VICINITY_PROFILE_SECONDS (15) make it longer.
#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/graph.h"
#include "client/types/result.h"
#include "proto/common/random.h"
#include "tests/integration/fixtures/certified_reader.h"
#include "tests/integration/fixtures/network_fixture.h"
#include "tests/testing/chaos/chaos_flow.h"
#include "tests/testing/chaos/chaos_proxy.h"
#include "tests/testing/graphs/certified_graph.h"
#include "tests/testing/hosts/network_hosts.h"
#include "tests/testing/slow_build.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::CertifiedReader;
using testing::LostWay;
using testing::NetworkHosts;
using testing::Reading;
using testing::Toxics;
using Clock = std::chrono::steady_clock;
using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kFailOver(3000 * testing::kSlower);
constexpr milliseconds kConverge(10'000 * testing::kSlower);

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : std::max<int64_t>(1, std::atoll(value));
}

// A trainer in a thread that reads epoch 0 again and again.
class Trainer {
 public:
  Trainer(std::unique_ptr<CertifiedReader> reader, std::vector<uint64_t> expected)
      : reader_(std::move(reader)), expected_(std::move(expected)), thread_([this] { Run(); }) {}
  ~Trainer() { Stop(); }
  void Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

  int64_t epochs() const { return epochs_; }
  int64_t wrong() const { return wrong_; }
  // After Stop.
  const std::string& error() const { return error_; }
  TrafficStats traffic() const { return reader_->traffic(); }
  // The longest wait for a batch of the epochs that have ended since this was asked last.
  milliseconds TakeLongestWait() { return milliseconds(longest_ms_.exchange(0)); }
  // Waits until so many more have begun and ended; false: a minute has passed, or it has failed.
  bool WaitForEpochs(int64_t more) const {
    const int64_t end = epochs_ + more + 1;
    const Clock::time_point limit = Clock::now() + seconds(60);
    while (epochs_ < end && !failed_ && Clock::now() < limit) {
      std::this_thread::sleep_for(milliseconds(5));
    }
    return epochs_ >= end;
  }

 private:
  void Run() {
    while (!stop_ && !failed_) {
      const Reading reading = reader_->Read(0);
      const int64_t waited = duration_cast<milliseconds>(reading.longest_wait).count();
      longest_ms_ = std::max<int64_t>(longest_ms_, waited);
      wrong_ += reading.verdict.wrong_rows + reading.verdict.wrong_edges;
      if (!reading.error.ok()) {
        error_ = reading.error.message();
        failed_ = true;
        return;
      }
      wrong_ += reading.digests == expected_ ? 0 : 1;
      ++epochs_;
    }
  }

  const std::unique_ptr<CertifiedReader> reader_;
  const std::vector<uint64_t> expected_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> failed_{false};
  std::atomic<int64_t> epochs_{0};
  std::atomic<int64_t> wrong_{0};
  std::atomic<int64_t> longest_ms_{0};
  std::string error_;
  std::thread thread_;  // last: it uses all above
};

TEST_CASE_METHOD(NetworkTest, "a server that the network takes away is left and found again",
                 "[network]") {
  if (!Start(kNumHosts, false)) return;
  struct Fault {
    const char* name;
    absl::Status (*begin)(NetworkHosts* hosts, int host);
  };
  const std::array<Fault, 5> faults = {
      {{"cut both ways",
        [](NetworkHosts* hosts, int host) { return hosts->Lose(host, LostWay::kBoth, 100); }},
       {"cut on the way there",
        [](NetworkHosts* hosts, int host) { return hosts->Lose(host, LostWay::kToHost, 100); }},
       {"cut on the way back",
        [](NetworkHosts* hosts, int host) { return hosts->Lose(host, LostWay::kFromHost, 100); }},
       {"link down", [](NetworkHosts* hosts, int host) { return hosts->PullCable(host); }},
       {"black hole", [](NetworkHosts* hosts, int host) { return hosts->ForgetRoute(host); }}}};
  GraphOptions files;
  files.directory = testbed_->directory();
  const std::vector<uint64_t> expected = Open(files)->Read(0).digests;
  Trainer trainer(Open(Served()), expected);
  trainer.WaitForEpochs(1);
  std::map<std::string, std::pair<milliseconds, milliseconds>> worst;  // wait, until converged
  NodeDraws random(1, 0);
  const int64_t cycles = FromEnvironment("VICINITY_NETWORK_CYCLES", 30);
  for (int64_t cycle = 0; cycle < cycles; ++cycle) {
    const Fault& fault = faults[cycle % faults.size()];
    const int victim = static_cast<int>(random.Below(kNumHosts));
    CAPTURE(cycle, fault.name, victim);
    trainer.TakeLongestWait();
    VICINITY_REQUIRE_OK(fault.begin(hosts_, victim));
    const bool goes_on = trainer.WaitForEpochs(1);
    const milliseconds waited = trainer.TakeLongestWait();
    VICINITY_REQUIRE_OK(hosts_->Heal(victim));
    CHECK(goes_on);
    if (!goes_on) break;
    // What the network has held back comes first: some calls more say that it is in use again.
    const Clock::time_point healed = Clock::now();
    int64_t before = -1;
    int64_t calls = -1;
    while (Since(healed) < kConverge && (before < 0 || calls < before + 20)) {
      calls = CallsAt(victim);
      if (before < 0) before = calls;
      std::this_thread::sleep_for(milliseconds(10));
    }
    const milliseconds converged = Since(healed);
    auto& [longest_wait, longest_converged] = worst[fault.name];
    longest_wait = std::max(longest_wait, waited);
    longest_converged = std::max(longest_converged, converged);
    CHECK(waited < kFailOver);
    CHECK(converged < kConverge);
    REQUIRE(trainer.wrong() == 0);
  }
  trainer.Stop();
  const TrafficStats traffic = trainer.traffic();
  std::string text = absl::StrCat(cycles, " cycles, ", trainer.epochs(), " epochs, ",
                                  traffic.retries, " retries, ", traffic.hedges, " hedges, ",
                                  traffic.quarantines, " quarantines\n");
  for (const auto& [name, times] : worst) {
    absl::StrAppend(&text, name, ": at worst ", times.first.count(), " ms for a batch, ",
                    times.second.count(), " ms until in use again\n");
  }
  WARN(text);
  CHECK(trainer.error() == "");
  CHECK(trainer.wrong() == 0);
}

TEST_CASE_METHOD(NetworkTest, "idle connections to a host without power cost one attempt",
                 "[network]") {
  if (!Start(kNumHosts, false)) return;
  const std::unique_ptr<Graph> graph = OpenGraph(Served());
  const testing::CertifiedGraph& truth = testbed_->graph();
  std::vector<int64_t> nodes;
  for (int64_t id = 0; id < truth.shape().num_nodes; id += 7) nodes.push_back(truth.GlobalOf(id));
  const auto fetch = [&] {
    const Clock::time_point begin = Clock::now();
    for (int i = 0; i < 10; ++i) {
      const Result<Rows> rows = graph->Fetch(0, "features", nodes);
      INFO(rows.error().message());
      REQUIRE(rows.ok());
      for (size_t n = 0; n < nodes.size(); ++n) {
        const std::string_view row(rows->bytes.data() + n * truth.shape().row_bytes,
                                   truth.shape().row_bytes);
        REQUIRE(truth.CheckRow(static_cast<int64_t>(n) * 7, row) == testing::RowFault::kNone);
      }
    }
    return Since(begin);
  };
  for (int i = 0; i < 10; ++i) fetch();  // how long calls take is known
  const milliseconds calm = fetch();
  // No FIN, no RST, and nothing under way.
  VICINITY_REQUIRE_OK(hosts_->Lose(1, LostWay::kBoth, 100));
  const milliseconds first = fetch();
  const milliseconds later = fetch();
  VICINITY_REQUIRE_OK(hosts_->Heal(1));
  WARN("ten times " << nodes.size() << " rows: " << calm.count() << " ms with both, "
                    << first.count() << " ms when one has lost its power, then " << later.count()
                    << " ms");
  CHECK(first < kFailOver);
  CHECK(later < kFailOver);
}

// What a network does to bytes, at one time.
struct Profile {
  const char* name;
  int loss_percent = 0;         // of packets, each way
  int64_t bits_per_second = 0;  // 0: any
  int latency_ms = 0;           // each way
  int jitter_ms = 0;
  int64_t slice_bytes = 0;
  int64_t cut_after = -1;  // by reset
  int64_t corrupt_every = 0;

  bool Damages() const { return cut_after >= 0 || corrupt_every > 0; }
};

constexpr std::array<Profile, 20> kProfiles = {{
    {"clean"},
    {"1 % lost", 1},
    {"5 % lost", 5},
    {"10 % lost", 10},
    {"30 % lost", 30},
    {"1 Mb/s", 0, 1'000'000},
    {"10 Mb/s", 0, 10'000'000},
    {"100 Mb/s", 0, 100'000'000},
    {"1 % lost of 10 Mb/s", 1, 10'000'000},
    {"1 % lost of 100 Mb/s", 1, 100'000'000},
    {"1 ms", 0, 0, 1},
    {"10 ms and up to 5", 0, 0, 10, 5},
    {"50 ms and up to 20", 0, 0, 50, 20},
    {"200 ms and up to 50", 0, 0, 200, 50},
    {"pieces of 100 bytes", 0, 0, 0, 0, 100},
    {"reset after 1 MB", 0, 0, 0, 0, 0, 1'000'000},
    {"a bit in 100 kB", 0, 0, 0, 0, 0, -1, 100'000},
    {"a bit in 10 kB", 0, 0, 0, 0, 0, -1, 10'000},
    {"20 ms and up to 10, 1 % lost of 10 Mb/s", 1, 10'000'000, 20, 10},
    {"all: 10 ms, 5 % lost of 10 Mb/s, a bit in 200 kB", 5, 10'000'000, 10, 0, 0, -1, 200'000},
}};

// Threads that fetch the same rows again and again, each when it has the last.
class Fetchers {
 public:
  static constexpr int kThreads = 4;
  static constexpr int64_t kRows = 64;

  struct Count {
    int64_t whole = 0;  // fetches that came
    int64_t wrong = 0;  // rows
    std::map<ErrorCode, int64_t> errors;
    std::string error;  // one of them
  };

  static Count Run(const Graph& graph, const testing::CertifiedGraph& truth, seconds length) {
    std::array<Count, kThreads> counts;
    std::vector<std::thread> threads;
    const Clock::time_point end = Clock::now() + length;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        for (int64_t first = i * kRows; Clock::now() < end; first += kRows) {
          FetchOnce(graph, truth, first, &counts[i]);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    Count sum;
    for (const Count& count : counts) {
      sum.whole += count.whole;
      sum.wrong += count.wrong;
      for (const auto& [code, number] : count.errors) sum.errors[code] += number;
      if (!count.error.empty()) sum.error = count.error;
    }
    return sum;
  }

  // How many a second there can be at most, where there are `clean` without any trouble.
  static double Most(const Profile& profile, int64_t row_bytes, double clean) {
    const double round_trip = 2e-3 * (profile.latency_ms + profile.jitter_ms);
    const double most = kThreads / (round_trip + kThreads / clean);
    if (profile.bits_per_second == 0) return most;
    return std::min(most, static_cast<double>(profile.bits_per_second) /
                              (8.0 * static_cast<double>(kRows * row_bytes)));
  }

 private:
  static void FetchOnce(const Graph& graph, const testing::CertifiedGraph& truth, int64_t first,
                        Count* count) {
    const testing::CertifiedShape& shape = truth.shape();
    std::vector<int64_t> nodes;
    for (int64_t i = 0; i < kRows; ++i) nodes.push_back((first + i * 61) % shape.num_nodes);
    const Result<Rows> rows = graph.Fetch(0, "features", nodes);
    if (!rows.ok()) {
      ++count->errors[rows.error().code()];
      count->error = rows.error().message();
      return;
    }
    ++count->whole;
    for (int64_t i = 0; i < kRows; ++i) {
      const std::string_view row(rows->bytes.data() + i * shape.row_bytes, shape.row_bytes);
      count->wrong += truth.CheckRow(truth.IdOf(nodes[i]), row) != testing::RowFault::kNone;
    }
  }
};

TEST_CASE_METHOD(NetworkTest, "no row is wrong on any network, and slow ones are used",
                 "[network]") {
  if (!Start(1, true)) return;
  const seconds length(FromEnvironment("VICINITY_PROFILE_SECONDS", 15));
  std::string table;
  double clean = 0;  // the first profile's rate
  for (const Profile& profile : kProfiles) {
    CAPTURE(profile.name);
    GraphOptions where = Served();
    where.call_timeout = seconds(5);
    const std::unique_ptr<Graph> graph = OpenGraph(where);
    VICINITY_REQUIRE_OK(hosts_->LimitRate(0, profile.bits_per_second));
    if (profile.loss_percent > 0) {
      VICINITY_REQUIRE_OK(hosts_->Lose(0, LostWay::kBoth, profile.loss_percent));
    }
    Toxics toxics;
    toxics.latency = absl::Milliseconds(profile.latency_ms);
    toxics.jitter = absl::Milliseconds(profile.jitter_ms);
    toxics.slice_bytes = profile.slice_bytes;
    toxics.cut_after = profile.cut_after;
    toxics.cut_by_reset = true;
    toxics.corrupt_every = profile.corrupt_every;
    testbed_->proxy(0)->SetBoth(toxics);
    const Clock::time_point begin = Clock::now();
    const Fetchers::Count count = Fetchers::Run(*graph, testbed_->graph(), length);
    const double took = std::chrono::duration<double>(Clock::now() - begin).count();
    testbed_->proxy(0)->Heal();
    VICINITY_REQUIRE_OK(hosts_->Heal(0));
    VICINITY_REQUIRE_OK(hosts_->LimitRate(0, 0));

    const double rate = static_cast<double>(count.whole) / took;
    if (clean == 0) clean = rate;
    const double most = Fetchers::Most(profile, testbed_->graph().shape().row_bytes, clean);
    int64_t num_errors = 0;
    for (const auto& [code, number] : count.errors) {
      CAPTURE(count.error);
      // Bits that flip where no checksum of ours is, in HTTP/2, can make nearly any status, but
      // none that says that the caller was wrong.
      CHECK((code == ErrorCode::kUnavailable || code == ErrorCode::kDeadlineExceeded ||
             (profile.Damages() && code != ErrorCode::kInvalidArgument)));
      num_errors += number;
    }
    absl::StrAppendFormat(&table, "%-50s %5.0f of %5.0f/s, %d\n", profile.name, rate, most,
                          num_errors);
    CHECK(count.wrong == 0);
    CHECK((count.whole > 0 || profile.loss_percent >= 30));
    if (profile.Damages()) continue;
    CAPTURE(count.error);
    CHECK((num_errors == 0 || profile.loss_percent >= 10));
    // What TCP itself makes of loss where nothing else limits it is not ours, nor is the proxy's
    // work with pieces.
    const bool limited = profile.bits_per_second > 0 || profile.latency_ms > 0;
    const bool by_network = limited && most < 0.25 * clean;  // else the processor may be the limit
    if (profile.loss_percent <= 1 && by_network) CHECK(rate >= 0.5 * most);
  }
  WARN(length.count() << " s each: fetches of 64 rows of 256 bytes, what there could be, errors\n"
                      << table);
}

}  // namespace
}  // namespace vicinity
