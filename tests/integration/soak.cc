// Readers of a certified graph, one for each cache, go through epoch after epoch while servers are
// killed, paused, replaced, cut off, slowed down and disconnected at random. At the end it says
// what came and what failed, and checks that nothing was wrong, nothing hung and nothing leaked.
//
// The order of the faults depends on the seed alone; when they hit depends on the machine.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
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

namespace vicinity::testing {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kNumServers = 3;
constexpr int64_t kEpochs = 4;  // different ones, again and again
constexpr milliseconds kCallTimeout(1000);
constexpr milliseconds kCallBudget(4000);
// For one batch; far more than the calls that it takes, each with the budget.
constexpr seconds kHang(20);
// For any batch at all, whatever faults follow each other, and keep-alive's 40 s among them.
constexpr seconds kStuck(120);
constexpr int kMostReplicas = kNumServers;
// This server is never killed: what it holds at the end, it held on to.
constexpr int kWitness = 0;
constexpr int64_t kMayGrowBytes = int64_t{64} << 20;  // allocators keep some

// Reads until it is stopped, going on after every error.
class SoakReader {
 public:
  // `expected[e]` has the digests of epoch e. All must outlive it.
  SoakReader(std::string name, std::unique_ptr<CertifiedReader> reader,
             const std::vector<std::vector<uint64_t>>* expected)
      : name_(std::move(name)),
        reader_(std::move(reader)),
        expected_(*expected),
        last_batch_(Clock::now()),
        thread_([this] { Run(); }) {}
  ~SoakReader() {
    Stop();
    thread_.join();
  }

  void Stop() {
    stop_ = true;
    MutexLock lock(&mu_);
    stopped_.NotifyAll();
  }

  struct Totals {
    int64_t epochs = 0;
    int64_t batches = 0;
    int64_t rows = 0;
    int64_t edges = 0;
    int64_t wrong = 0;      // rows and edges
    int64_t different = 0;  // batches that are not those of the files
    int64_t hangs = 0;
    std::map<ErrorCode, int64_t> errors;
    std::string first_wrong;
    std::string last_error;
  };
  Totals totals() const {
    MutexLock lock(&mu_);
    return totals_;
  }
  const std::string& name() const { return name_; }
  TrafficStats traffic() const { return reader_->traffic(); }
  bool Stuck() const { return Clock::now() - last_batch_.load() > kStuck; }

 private:
  void Run() {
    int64_t epoch = 0;
    size_t step = 0;
    while (!stop_) {
      const Reading reading = reader_->Read(epoch, static_cast<int64_t>(step), [&](int64_t now) {
        if (now > static_cast<int64_t>(step)) last_batch_ = Clock::now();
      });
      const std::vector<uint64_t>& expected = expected_[epoch];
      const bool over = Add(reading, expected, step);
      step = over ? 0 : std::min(step + reading.digests.size(), expected.size());
      if (over) epoch = (epoch + 1) % kEpochs;
      if (over || !reading.digests.empty()) last_batch_ = Clock::now();
      MutexLock lock(&mu_);
      // A server that refuses does so at once: no need to ask it all the time.
      if (!over && !stop_) stopped_.WaitFor(&mu_, milliseconds(20));
    }
  }

  // True: the epoch is over.
  bool Add(const Reading& reading, const std::vector<uint64_t>& expected, size_t step) {
    MutexLock lock(&mu_);
    for (size_t i = 0; i < reading.digests.size(); ++i) {
      const bool same = step + i < expected.size() && reading.digests[i] == expected[step + i];
      totals_.different += !same;
    }
    totals_.batches += static_cast<int64_t>(reading.digests.size());
    totals_.rows += reading.verdict.rows;
    totals_.edges += reading.verdict.edges;
    totals_.wrong += reading.verdict.wrong_rows + reading.verdict.wrong_edges;
    if (totals_.first_wrong.empty()) totals_.first_wrong = reading.verdict.first_wrong;
    totals_.hangs += reading.longest_wait > kHang;
    totals_.epochs += reading.error.ok();
    if (reading.error.ok()) return true;
    ++totals_.errors[reading.error.code()];
    totals_.last_error = reading.error.message();
    return false;
  }

  const std::string name_;
  const std::unique_ptr<CertifiedReader> reader_;
  const std::vector<std::vector<uint64_t>>& expected_;
  std::atomic<bool> stop_{false};
  std::atomic<Clock::time_point> last_batch_;
  mutable Mutex mu_;
  CondVar stopped_;
  Totals totals_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;  // last: it uses all above
};

struct Fault {
  const char* name;
  bool ends_process;  // not for the witness
  absl::Status (*begin)(Testbed*, int server);
  absl::Status (*end)(Testbed*, int server);
};

template <bool Toxics::*kWhat>
absl::Status SetBoth(Testbed* testbed, int server) {
  Toxics toxics;
  toxics.*kWhat = true;
  testbed->proxy(server)->SetBoth(toxics);
  return absl::OkStatus();
}

absl::Status CutEachConnection(Testbed* testbed, int server, bool by_reset) {
  Toxics toxics;
  toxics.cut_after = 30'000;
  toxics.cut_by_reset = by_reset;
  testbed->proxy(server)->Set(Direction::kToClient, toxics);
  return absl::OkStatus();
}

absl::Status SlowDown(Testbed* testbed, int server) {
  Toxics toxics;
  toxics.latency = absl::Milliseconds(5);
  toxics.jitter = absl::Milliseconds(20);
  toxics.bytes_per_second = 2'000'000;
  toxics.slice_bytes = 700;
  testbed->proxy(server)->SetBoth(toxics);
  return absl::OkStatus();
}

absl::Status Heal(Testbed* testbed, int server) {
  testbed->proxy(server)->Heal();
  return absl::OkStatus();
}

const std::array<Fault, 11> kFaults = {{
    {"killed", true, [](Testbed* t, int s) { return t->Kill(s); },
     [](Testbed* t, int s) { return t->Restart(s); }},
    {"stopped in order", true, [](Testbed* t, int s) { return t->Terminate(s).status(); },
     [](Testbed* t, int s) { return t->Restart(s); }},
    {"replaced by another dataset", true, [](Testbed* t, int s) { return t->Restart(s, 2); },
     [](Testbed* t, int s) { return t->Restart(s); }},
    {"paused", false, [](Testbed* t, int s) { return t->Pause(s), absl::OkStatus(); },
     [](Testbed* t, int s) { return t->Continue(s), absl::OkStatus(); }},
    {"in a black hole", false, SetBoth<&Toxics::swallow>, Heal},
    {"stalled", false, SetBoth<&Toxics::stall>, Heal},
    {"disconnected again and again", false,
     [](Testbed* t, int s) { return CutEachConnection(t, s, false); }, Heal},
    {"reset again and again", false,
     [](Testbed* t, int s) { return CutEachConnection(t, s, true); }, Heal},
    {"reset once", false,
     [](Testbed* t, int s) { return t->proxy(s)->ResetAll(), absl::OkStatus(); }, Heal},
    {"not accepting", false,
     [](Testbed* t, int s) {
       t->proxy(s)->SetAccepting(false);
       t->proxy(s)->ResetAll();
       return absl::OkStatus();
     },
     Heal},
    {"slow", false, SlowDown, Heal},
}};

std::string TrafficText(const TrafficStats& traffic) {
  return absl::StrCat(traffic.shard_calls, " calls, ", traffic.attempts, " attempts, ",
                      traffic.retries, " retries, ", traffic.hedges, " hedges, ",
                      traffic.hedge_wins, " of them first, ", traffic.quarantines, " quarantines");
}

class Soak {
 public:
  Soak(absl::Duration length, int replicas, uint64_t seed)
      : end_(Clock::now() + absl::ToChronoNanoseconds(length)),
        replicas_(replicas),
        random_(seed, 0) {}

  // 0 if every check passed.
  absl::StatusOr<int> Run() {
    VICINITY_RETURN_IF_ERROR(SetUp());
    VICINITY_ASSIGN_OR_RETURN(const ProcessUse before, testbed_->Use(kWitness));
    VICINITY_RETURN_IF_ERROR(StartReaders());
    ProcessUse warm = before;
    int num_faults = 0;
    while (Clock::now() < end_ && !AnyStuck()) {
      VICINITY_RETURN_IF_ERROR(InjectOne());
      if (++num_faults == 10) {
        VICINITY_ASSIGN_OR_RETURN(warm, testbed_->Use(kWitness));
      }
    }
    std::cout << num_faults << " faults\n";
    VICINITY_ASSIGN_OR_RETURN(const ProcessUse late, testbed_->Use(kWitness));
    const bool stuck = AnyStuck();
    for (const auto& reader : readers_) reader->Stop();
    SoakReader::Totals sum = Report();
    readers_.clear();
    Check("no row and no edge is wrong", sum.wrong == 0, sum.first_wrong);
    Check("every batch is that of the files", sum.different == 0, "");
    Check("no batch and no error takes long", sum.hangs == 0, "");
    Check("every reader goes on", !stuck && sum.epochs > 0, sum.last_error);
    if (replicas_ > 1) Check("no reader meets an error", sum.errors.empty(), sum.last_error);
    std::cout << "a server: " << (before.resident_bytes >> 20) << " MiB and " << before.open_files
              << " files at first, " << (warm.resident_bytes >> 20) << " and " << warm.open_files
              << " after ten faults, " << (late.resident_bytes >> 20) << " and " << late.open_files
              << " at last\n";
    Check(
        "a server's memory does not grow",
        late.resident_bytes < std::max(warm.resident_bytes, before.resident_bytes) + kMayGrowBytes,
        "");
    Check("a server's files are closed", FilesComeBackTo(before.open_files), "");
    std::cout << passed_ << " passed, " << failed_ << " failed" << std::endl;
    return failed_ == 0 ? 0 : 1;
  }

 private:
  absl::Status SetUp() {
    TestbedOptions options;
    options.graph.num_nodes = 6000;
    options.graph.num_shards = kNumServers;
    options.graph.row_bytes = 256;
    options.num_servers = kNumServers;
    options.replicas = replicas_;
    options.proxies = true;
    options.seed = random_.Next32();
    VICINITY_ASSIGN_OR_RETURN(testbed_, Testbed::Start(options));
    GraphOptions files;
    files.directory = testbed_->directory();
    VICINITY_ASSIGN_OR_RETURN(const auto reader, Open(files, CachePolicy::kNone));
    for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
      expected_.push_back(reader->Read(epoch).digests);
    }
    return absl::OkStatus();
  }

  absl::Status StartReaders() {
    GraphOptions servers;
    servers.cluster_file = testbed_->cluster_file();
    servers.call_timeout = kCallTimeout;
    servers.call_budget = kCallBudget;
    for (const auto& [name, policy] :
         {std::pair("no cache", CachePolicy::kNone), std::pair("vip", CachePolicy::kVip),
          std::pair("auto", CachePolicy::kAuto)}) {
      VICINITY_ASSIGN_OR_RETURN(auto reader, Open(servers, policy));
      readers_.push_back(std::make_unique<SoakReader>(name, std::move(reader), &expected_));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<CertifiedReader>> Open(const GraphOptions& where,
                                                        CachePolicy cache) const {
    ReaderOptions options;
    options.graph = where;
    options.cache = cache;
    options.cache_rows = cache == CachePolicy::kNone ? 0 : 800;
    auto reader = CertifiedReader::Open(&testbed_->graph(), options);
    if (!reader.ok()) return absl::UnavailableError(reader.error().message());
    return *std::move(reader);
  }

  absl::Status InjectOne() {
    const Fault& fault = kFaults[random_.Below(kFaults.size())];
    const int first = fault.ends_process ? kWitness + 1 : 0;
    const int server = first + static_cast<int>(random_.Below(kNumServers - first));
    const milliseconds length(100 + random_.Below(2000));
    const milliseconds quiet(200 + random_.Below(1500));
    std::cout << "s" << server << " " << fault.name << ", " << length.count() << " ms" << std::endl;
    VICINITY_RETURN_IF_ERROR(fault.begin(testbed_.get(), server));
    std::this_thread::sleep_for(length);
    VICINITY_RETURN_IF_ERROR(fault.end(testbed_.get(), server));
    std::this_thread::sleep_for(quiet);
    return absl::OkStatus();
  }

  bool AnyStuck() const {
    return std::any_of(readers_.begin(), readers_.end(),
                       [](const auto& reader) { return reader->Stuck(); });
  }

  SoakReader::Totals Report() const {
    SoakReader::Totals sum;
    for (const std::unique_ptr<SoakReader>& reader : readers_) {
      const SoakReader::Totals totals = reader->totals();
      std::cout << reader->name() << ": " << totals.epochs << " epochs ended, " << totals.batches
                << " batches, " << totals.rows << " rows, " << totals.edges << " edges, "
                << totals.wrong << " wrong, " << totals.different << " batches different, "
                << totals.hangs << " hangs";
      for (const auto& [code, count] : totals.errors) {
        std::cout << ", " << count << " " << ErrorCodeName(code);
      }
      std::cout << "\n  " << TrafficText(reader->traffic()) << "\n";
      if (!totals.last_error.empty()) std::cout << "  last error: " << totals.last_error << "\n";
      sum.epochs += totals.epochs;
      sum.wrong += totals.wrong;
      sum.different += totals.different;
      sum.hangs += totals.hangs;
      for (const auto& [code, count] : totals.errors) sum.errors[code] += count;
      if (sum.first_wrong.empty()) sum.first_wrong = totals.first_wrong;
      if (!totals.last_error.empty()) sum.last_error = totals.last_error;
    }
    return sum;
  }

  // Connections end a little after their clients.
  bool FilesComeBackTo(int64_t open_files) const {
    const Clock::time_point deadline = Clock::now() + seconds(20);
    while (Clock::now() < deadline) {
      const absl::StatusOr<ProcessUse> use = testbed_->Use(kWitness);
      if (use.ok() && use->open_files <= open_files) return true;
      std::this_thread::sleep_for(milliseconds(50));
    }
    return false;
  }

  void Check(const char* what, bool holds, const std::string& why) {
    (holds ? passed_ : failed_) += 1;
    std::cout << (holds ? "ok: " : "FAILED: ") << what;
    if (!holds) std::cout << ": " << why;
    std::cout << "\n";
  }

  const Clock::time_point end_;
  const int replicas_;
  NodeDraws random_;
  std::unique_ptr<Testbed> testbed_;
  std::vector<std::vector<uint64_t>> expected_;
  std::vector<std::unique_ptr<SoakReader>> readers_;
  int passed_ = 0;
  int failed_ = 0;
};

}  // namespace
}  // namespace vicinity::testing

int main(int argc, char** argv) {  // NOLINT: an exception may end it
  double minutes = 3;
  int replicas = 1;
  uint64_t seed =
      static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  CLI::App app("Reads a graph while everything around it fails, and checks what came.", "soak");
  app.add_option("--minutes", minutes, "how long")->check(CLI::Range(0.0, 100'000.0));
  app.add_option("--replicas", replicas, "of every shard; with two no reader may notice anything")
      ->check(CLI::Range(1, vicinity::testing::kMostReplicas));
  app.add_option("--seed", seed, "of the faults; each run's is printed");
  CLI11_PARSE(app, argc, argv);
  std::cout << "soak: " << minutes << " minutes, " << replicas << " replicas, seed " << seed
            << std::endl;
  const auto result = vicinity::testing::Soak(absl::Minutes(minutes), replicas, seed).Run();
  if (!result.ok()) std::cout << "FAILED: " << result.status() << "\n0 passed, 1 failed\n";
  return result.value_or(1);
}
