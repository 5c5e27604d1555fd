// A reader, and a server that in the middle of an epoch is killed, paused, cut off, or replaced by
// one of another dataset: a thousand times (VICINITY_FAULT_RUNS), on a few small clusters at once.
// With a second replica of every shard nobody notices. Without, the epoch ends with an error of a
// code that says what to do, soon, and goes on with the same bytes when the server is back.
#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/graph.h"
#include "client/loader.h"
#include "client/types/result.h"
#include "proto/common/mutex.h"
#include "proto/common/random.h"
#include "proto/common/status.h"
#include "tests/integration/fixtures/certified_reader.h"
#include "tests/testing/chaos/chaos_flow.h"
#include "tests/testing/chaos/chaos_proxy.h"
#include "tests/testing/hosts/testbed.h"
#include "tests/testing/slow_build.h"
#include "tests/testing/test_size.h"

namespace vicinity {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::CertifiedReader;
using testing::kSlower;
using testing::Reading;
using testing::SizeFromEnvironment;
using testing::Testbed;
using testing::Toxics;
using Clock = std::chrono::steady_clock;

constexpr int kClusters = 6;  // half of them with replicas
constexpr int64_t kEpochs = 3;
constexpr milliseconds kCallTimeout(250 * kSlower);
constexpr milliseconds kImpatient(500 *
                                  kSlower);  // a call's budget where nobody else has the shard
constexpr milliseconds kPatient(10'000 * kSlower);
// A batch takes three calls one after the other. Far more than they can take together, and far less
// than a hang, however busy the machine.
constexpr seconds kNoHang(12 * kSlower);
constexpr seconds kRecovery(60);

constexpr std::array<const char*, 4> kFaults = {"killed", "paused", "cut off",
                                                "replaced by another dataset"};
enum Fault { kKilled, kPaused, kCutOff, kReplaced };

const std::set<ErrorCode> kTyped = {ErrorCode::kUnavailable, ErrorCode::kDeadlineExceeded,
                                    ErrorCode::kFailedPrecondition};

// What became of the runs of all clusters.
class Account {
 public:
  void Add(const std::string& what, std::chrono::nanoseconds longest_wait) {
    MutexLock lock(&mu_);
    ++runs_[what];
    waits_.push_back(longest_wait);
  }
  void AddProblem(const std::string& what) {
    MutexLock lock(&mu_);
    problems_.push_back(what);
  }
  std::vector<std::string> problems() const {
    MutexLock lock(&mu_);
    return problems_;
  }
  int64_t runs() const {
    MutexLock lock(&mu_);
    return static_cast<int64_t>(waits_.size());
  }
  std::string Text() const {
    MutexLock lock(&mu_);
    std::string out;
    for (const auto& [what, count] : runs_) absl::StrAppend(&out, count, " ", what, "\n");
    std::vector<std::chrono::nanoseconds> waits = waits_;
    std::sort(waits.begin(), waits.end());
    for (const double share : {0.5, 0.99, 1.0}) {
      if (waits.empty()) break;
      const auto at = static_cast<size_t>(share * static_cast<double>(waits.size() - 1));
      absl::StrAppend(&out, "longest wait of a run, share ", share, ": ",
                      std::chrono::duration_cast<milliseconds>(waits[at]).count(), " ms\n");
    }
    return out;
  }

 private:
  mutable Mutex mu_;
  std::map<std::string, int64_t> runs_ ABSL_GUARDED_BY(mu_);
  std::vector<std::chrono::nanoseconds> waits_ ABSL_GUARDED_BY(mu_);
  std::vector<std::string> problems_ ABSL_GUARDED_BY(mu_);
};

// Two servers, in a thread's own hands. What fails here is an error that ends the cluster's runs.
class Cluster {
 public:
  static absl::StatusOr<std::unique_ptr<Cluster>> Start(int number) {
    auto cluster = std::unique_ptr<Cluster>(new Cluster(number));
    testing::TestbedOptions options;
    options.graph.num_nodes = 800;
    options.graph.num_shards = 2;
    options.graph.row_bytes = 128;
    options.num_servers = 2;
    options.replicas = cluster->replicated_ ? 2 : 1;
    options.proxies = true;
    VICINITY_ASSIGN_OR_RETURN(cluster->testbed_, Testbed::Start(options));
    GraphOptions files;
    files.directory = cluster->testbed_->directory();
    VICINITY_ASSIGN_OR_RETURN(const auto reader, cluster->Open(files));
    for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
      cluster->expected_.push_back(reader->Read(epoch).digests);
    }
    return cluster;
  }

  // One run, after which all is mended.
  absl::Status Run(Fault fault, Account* account) {
    GraphOptions servers;
    servers.cluster_file = testbed_->cluster_file();
    servers.call_timeout = kCallTimeout;
    servers.call_budget = replicated_ ? kPatient : kImpatient;
    VICINITY_ASSIGN_OR_RETURN(const auto reader, Open(servers));
    victim_ = static_cast<int>(random_.Below(2));
    epoch_ = static_cast<int64_t>(random_.Below(kEpochs));
    const auto when = static_cast<int64_t>(1 + random_.Below(expected_[epoch_].size() / 2));
    absl::Status broken;
    const Reading reading = reader->Read(epoch_, 0, [&](int64_t step) {
      if (step == when) broken = Break(fault);
    });
    VICINITY_RETURN_IF_ERROR(broken);
    VICINITY_RETURN_IF_ERROR(Check(reading, 0));
    if (static_cast<int64_t>(reading.digests.size()) < when) {
      return absl::InternalError(
          absl::StrCat("an error before the fault: ", reading.error.message()));
    }
    if (replicated_ && !reading.error.ok()) {
      return absl::InternalError(absl::StrCat("noticed: ", reading.error.message()));
    }
    account->Add(absl::StrCat(kFaults[fault], replicated_ ? ", with" : ", without", " replicas: ",
                              reading.error.ok() ? "whole" : ErrorCodeName(reading.error.code())),
                 reading.longest_wait);
    VICINITY_RETURN_IF_ERROR(Mend(fault));
    return reading.error.ok() ? absl::OkStatus() : ReadRest(reader.get(), reading.digests.size());
  }

 private:
  explicit Cluster(int number) : replicated_(number % 2 == 0), random_(17, number) {}

  absl::StatusOr<std::unique_ptr<CertifiedReader>> Open(const GraphOptions& where) const {
    testing::ReaderOptions options;
    options.graph = where;
    options.fanouts = {3, 3};
    options.window_bytes = 32 << 10;  // a batch or two: the fault is met
    auto reader = CertifiedReader::Open(&testbed_->graph(), options);
    if (!reader.ok()) return absl::UnavailableError(reader.error().message());
    return *std::move(reader);
  }

  absl::Status Break(Fault fault) {
    Toxics toxics;
    switch (fault) {
      case kKilled:
        return testbed_->Kill(victim_);
      case kPaused:
        testbed_->Pause(victim_);
        return absl::OkStatus();
      case kCutOff:
        toxics.swallow = random_.Below(2) == 0;
        toxics.stall = !toxics.swallow;
        testbed_->proxy(victim_)->SetBoth(toxics);
        return absl::OkStatus();
      case kReplaced:
        return testbed_->Restart(victim_, 2);
    }
    return absl::OkStatus();
  }

  absl::Status Mend(Fault fault) {
    if (fault == kKilled || fault == kReplaced) return testbed_->Restart(victim_);
    testbed_->Continue(victim_);
    testbed_->proxy(victim_)->Heal();
    return absl::OkStatus();
  }

  // What must hold of whatever was read from `first` on.
  absl::Status Check(const Reading& reading, size_t first) const {
    const std::vector<uint64_t>& expected = expected_[epoch_];
    if (reading.verdict.wrong_rows + reading.verdict.wrong_edges > 0) {
      return absl::InternalError(absl::StrCat("wrong: ", reading.verdict.first_wrong));
    }
    if (reading.longest_wait >= kNoHang) {
      return absl::InternalError(absl::StrCat(
          "hung for ", std::chrono::duration_cast<milliseconds>(reading.longest_wait).count(),
          " ms: ", reading.error.message()));
    }
    const bool fits = first + reading.digests.size() <= expected.size();
    if (!fits || !std::equal(reading.digests.begin(), reading.digests.end(),
                             expected.begin() + static_cast<int64_t>(first))) {
      return absl::InternalError("batches are not those of the files");
    }
    if (reading.error.ok() && first + reading.digests.size() < expected.size()) {
      return absl::InternalError("the epoch ended too soon, without an error");
    }
    if (!reading.error.ok() && kTyped.count(reading.error.code()) == 0) {
      return absl::InternalError(absl::StrCat(
          "another error: ", ErrorCodeName(reading.error.code()), ": ", reading.error.message()));
    }
    return absl::OkStatus();
  }

  // Through as many errors as there are while connections find back.
  absl::Status ReadRest(CertifiedReader* reader, size_t step) const {
    const Clock::time_point deadline = Clock::now() + kRecovery;
    while (true) {
      const Reading reading = reader->Read(epoch_, static_cast<int64_t>(step));
      VICINITY_RETURN_IF_ERROR(Check(reading, step));
      step += reading.digests.size();
      if (reading.error.ok()) return absl::OkStatus();
      if (Clock::now() > deadline) {
        return absl::InternalError(absl::StrCat("does not recover: ", reading.error.message()));
      }
    }
  }

  const bool replicated_;
  NodeDraws random_;
  std::unique_ptr<Testbed> testbed_;
  std::vector<std::vector<uint64_t>> expected_;  // digests of each epoch, read from the files
  int victim_ = 0;
  int64_t epoch_ = 0;
};

TEST_CASE("whatever happens to a server, an epoch ends with its bytes or with a typed error",
          "[fault]") {
  const int num_runs = SizeFromEnvironment("VICINITY_FAULT_RUNS", 1000 / kSlower);
  Account account;
  std::atomic<int> next{0};
  const auto work = [&](int number) {
    auto cluster = Cluster::Start(number);
    if (!cluster.ok()) return account.AddProblem(cluster.status().ToString());
    while (true) {
      const int run = next++;
      if (run >= num_runs) return;
      const auto fault = static_cast<Fault>(run % kFaults.size());
      const absl::Status status = (*cluster)->Run(fault, &account);
      if (status.ok()) continue;
      return account.AddProblem(absl::StrCat("run ", run, ", ", kFaults[fault], " in cluster ",
                                             number, ": ", status.ToString()));
    }
  };
  std::vector<std::thread> threads;
  for (int number = 0; number < kClusters; ++number) threads.emplace_back(work, number);
  for (std::thread& thread : threads) thread.join();
  std::cout << account.Text();
  for (const std::string& problem : account.problems()) FAIL_CHECK(problem);
  CHECK(account.runs() == num_runs);
}

}  // namespace
}  // namespace vicinity
