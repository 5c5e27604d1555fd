// Routing, retries, hedges, quarantine and the loader over servers that fail in every way a seed
// can think of, in virtual time and without gRPC: whatever comes is right to the byte, whatever
// does not is an error in time, and nobody asks much more often than is needed.
#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/loading/loader_core.h"
#include "client/replicas/retry_policy.h"
#include "client/shards/mapped_shard.h"
#include "client/shards/shard_router.h"
#include "client/shards/traffic.h"
#include "proto/common/checksum.h"
#include "proto/common/ids.h"
#include "proto/common/mutex.h"
#include "proto/common/random.h"
#include "proto/common/retry_delay.h"
#include "tests/client/pattern_shard.h"
#include "tests/client/routed_graph.h"
#include "tests/client/simulated_replicas.h"
#include "tests/sampler/sampled_graphs.h"
#include "tests/testing/graphs/simulated_shard.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/virtual_timer.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define VICINITY_SLOW_BUILD
#endif
#endif

namespace vicinity {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Fate;

#ifdef VICINITY_SLOW_BUILD
constexpr uint64_t kSeeds = 200;
#else
constexpr uint64_t kSeeds = 2000;
#endif
constexpr int kNumServers = 3;
constexpr int32_t kNumShards = 4;

std::vector<int> ServersOf(int32_t shard) {
  return {shard % kNumServers, (shard + 1) % kNumServers};
}

// What goes wrong for one seed. A fate depends on the seed, the time, the server, the question and
// how often the server has been asked it, and not on the order in which threads come by.
class Trouble {
 public:
  Trouble(uint64_t seed, const Timer* timer) : seed_(seed), timer_(timer) {
    NodeDraws draws(seed, 0);
    for (int64_t& share : shares_) share = static_cast<int64_t>(draws.Below(25));
    for (Outage& outage : outages_) {
      outage.kind = static_cast<Outage::Kind>(draws.Below(5));
      outage.begin = milliseconds(draws.Below(200));
      outage.end = outage.begin + milliseconds(1 << draws.Below(15));
    }
  }

  Fate Decide(int server, uint64_t question) {
    const Outage& outage = outages_[server];
    const bool out = timer_->Now() >= outage.begin && timer_->Now() < outage.end;
    if (out && outage.kind != Outage::kNone) return InOutage(outage.kind);
    if (question == testing::ReplicaWorld::kProbe) return Fate();
    NodeDraws draws(seed_ + 1, question ^ (TimesAsked(server, question) << 8) ^ server);
    return InService(&draws);
  }

 private:
  struct Outage {
    enum Kind { kNone, kKilled, kPaused, kReplaced, kSlow };
    Kind kind = kNone;
    Timer::Time begin{0};
    Timer::Time end{0};
  };
  enum Share { kUnavailable, kLost, kDamaged, kBusy, kSlow, kBroken, kNumShares };

  static Fate InOutage(Outage::Kind kind) {
    Fate fate;
    if (kind == Outage::kKilled) fate.status = absl::UnavailableError("connection refused");
    if (kind == Outage::kReplaced) fate.status = absl::FailedPreconditionError("dataset 2, not 1");
    if (kind == Outage::kSlow) fate.delay = milliseconds(300);
    fate.lost = kind == Outage::kPaused;
    return fate;
  }

  // Each share is in thousandths of the calls.
  Fate InService(NodeDraws* draws) const {
    Fate fate;
    fate.delay = microseconds(200 + draws->Below(2000));
    int64_t place = static_cast<int64_t>(draws->Below(1000));
    int share = 0;
    while (share < kNumShares && place >= shares_[share]) place -= shares_[share++];
    switch (share) {
      case kUnavailable:
        fate.status = absl::UnavailableError("the server ended the call");
        break;
      case kLost:
        fate.lost = place < 5;  // each costs seconds
        break;
      case kDamaged:
        fate.status =
            place % 2 == 0 ? absl::DataLossError("damaged") : absl::AbortedError("damaged");
        break;
      case kBusy:
        fate.status = WithRetryDelay(absl::ResourceExhaustedError("busy"), milliseconds(30));
        break;
      case kSlow:
        fate.delay = milliseconds(10 + draws->Below(2000));
        break;
      case kBroken:
        fate.status = absl::InternalError("no answer that makes sense");
        break;
      default:
        break;
    }
    return fate;
  }

  uint64_t TimesAsked(int server, uint64_t question) {
    MutexLock lock(&mu_);
    return asked_[std::pair(server, question)]++;
  }

  const uint64_t seed_;
  const Timer* const timer_;
  std::array<int64_t, kNumShares> shares_{};
  std::array<Outage, kNumServers> outages_;
  Mutex mu_;
  std::map<std::pair<int, uint64_t>, uint64_t> asked_ ABSL_GUARDED_BY(mu_);
};

// Sums over all seeds.
struct Totals {
  int64_t calls = 0;
  int64_t attempts = 0;
  int64_t retries = 0;
  int64_t hedges = 0;
  int64_t hedge_wins = 0;
  int64_t quarantines = 0;
  int64_t errors = 0;

  void Add(const TrafficStats& traffic) {
    calls += traffic.shard_calls;
    attempts += traffic.attempts;
    retries += traffic.retries;
    hedges += traffic.hedges;
    hedge_wins += traffic.hedge_wins;
    quarantines += traffic.quarantines;
  }
  std::string Text() const {
    return absl::StrCat(calls, " calls, ", attempts, " attempts, ", retries, " retries, ", hedges,
                        " hedges, ", hedge_wins, " of them first, ", quarantines, " quarantines, ",
                        errors, " errors");
  }
};

// What a client may add to the load, whatever happens.
void CheckAmplification(const TrafficStats& traffic, Timer::Time passed) {
  const int64_t extra = traffic.retries + traffic.hedges;
  const int64_t tenths = testing::ReplicaWorld::kTokens * 10 + passed / milliseconds(100);
  REQUIRE(extra * 10 <= tenths + traffic.shard_calls);
  REQUIRE(traffic.hedges * 20 <= traffic.shard_calls);
}

const std::set<absl::StatusCode> kTyped = {
    absl::StatusCode::kUnavailable,       absl::StatusCode::kDeadlineExceeded,
    absl::StatusCode::kAborted,           absl::StatusCode::kDataLoss,
    absl::StatusCode::kResourceExhausted, absl::StatusCode::kFailedPrecondition,
    absl::StatusCode::kInternal};

// One client in one thread, which is also what makes time pass: the same seed does the same things
// at the same times.
class LoneClient {
 public:
  explicit LoneClient(uint64_t seed) : trouble_(seed, &timer_), draws_(seed, 7) {
    testing::ReplicaWorld world;
    world.num_servers = kNumServers;
    world.seed = seed;
    world.fates = [this](int server, uint64_t question) {
      return trouble_.Decide(server, question);
    };
    world_ = std::make_unique<testing::SimulatedReplicas>(world, &timer_);
    for (int32_t s = 0; s < kNumShards; ++s) {
      shards_.push_back(world_->Replicate(ShardId{s}, &near_, ServersOf(s)));
    }
  }

  TrafficStats traffic() const { return world_->traffic(); }
  Timer::Time now() const { return timer_.Now(); }

  // A few calls at once, again and again; a digest of all that came and when.
  uint64_t Run(int rounds, int64_t* errors) {
    std::string trace;
    for (int round = 0; round < rounds; ++round) {
      const Timer::Time before = timer_.Now();
      std::vector<Pending> calls(1 + draws_.Below(4));
      for (Pending& call : calls) Begin(&call);
      const auto all_over = [&] {
        return std::all_of(calls.begin(), calls.end(),
                           [](const Pending& call) { return call.over.has_value(); });
      };
      REQUIRE(timer_.RunUntil(all_over, before + RetryPolicy().call_budget));
      for (const Pending& call : calls) {
        absl::StrAppend(&trace, timer_.Now().count(), " ", call.over->ToString(), "\n");
        if (call.over->ok()) {
          REQUIRE(call.Right());
        } else {
          ++*errors;
          REQUIRE(kTyped.count(call.over->code()) == 1);
          REQUIRE(call.over->message().find("shard ") != absl::string_view::npos);
        }
      }
    }
    return Checksum(trace);
  }

 private:
  static constexpr int64_t kRowBytes = 24;
  struct Pending {
    std::vector<uint64_t> rows;
    std::vector<char> out;
    std::optional<absl::Status> over;

    bool Right() const {
      for (size_t i = 0; i < out.size(); ++i) {
        if (out[i] != testing::PatternShard::ByteOf(rows[i / kRowBytes], i % kRowBytes)) {
          return false;
        }
      }
      return true;
    }
  };

  void Begin(Pending* call) {
    for (uint64_t i = 1 + draws_.Below(20); i > 0; --i) call->rows.push_back(draws_.Below(1000));
    call->out.resize(call->rows.size() * kRowBytes);
    ShardRows rows;
    rows.rows = call->rows;
    rows.row_bytes = kRowBytes;
    rows.out = call->out.data();
    shards_[draws_.Below(kNumShards)]->Ask(
        rows, nullptr, [call](const absl::Status& status) { call->over = status; });
  }

  testing::VirtualTimer timer_;
  Trouble trouble_;
  NodeDraws draws_;
  testing::PatternShard near_;
  std::unique_ptr<testing::SimulatedReplicas> world_;
  std::vector<std::unique_ptr<ShardAccess>> shards_;
};

TEST_CASE("calls through every kind of trouble are right or fail in time", "[simulation]") {
  Totals totals;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    INFO("seed " << seed);
    LoneClient client(seed);
    const uint64_t trace = client.Run(60, &totals.errors);
    CheckAmplification(client.traffic(), client.now());
    totals.Add(client.traffic());
    if (seed % 10 == 0) {
      int64_t ignored = 0;
      REQUIRE(LoneClient(seed).Run(60, &ignored) == trace);
    }
  }
  WARN(totals.Text());
  CHECK(totals.attempts * 10 <= totals.calls * 11);
  CHECK(totals.retries > 0);
  CHECK(totals.hedge_wins > 0);
  CHECK(totals.quarantines > 0);
  CHECK(totals.errors * 100 < totals.calls);
}

// Lets time pass while a call is under way, and finds those that take longer than they may.
class WatchedShard final : public AnswersAlike<WatchedShard> {
 public:
  struct Watch {
    const Timer* timer;
    testing::PassingTime* time;
    std::atomic<int64_t> late{0};
  };
  WatchedShard(std::unique_ptr<ShardAccess> shard, Watch* watch)
      : shard_(std::move(shard)), watch_(watch) {}

  bool remote() const override { return true; }
  template <typename Request>
  void AskAny(const Request& request, const CallContext& context, const Done& done) {
    Begin(done, [&](Done end) { shard_->Ask(request, context, std::move(end)); });
  }

 private:
  template <typename Start>
  void Begin(const Done& done, const Start& start) {
    watch_->time->Begin([&] {
      start([watch = watch_, before = watch_->timer->Now(), done](absl::Status status) {
        if (watch->timer->Now() - before > RetryPolicy().call_budget) ++watch->late;
        watch->time->End();
        done(std::move(status));
      });
    });
  }

  const std::unique_ptr<ShardAccess> shard_;
  Watch* const watch_;
};

uint64_t Digest(const MiniBatch& batch) {
  std::string text = testing::Describe(batch.graph);
  for (const BatchColumn& column : batch.columns) {
    text.append(column.bytes.begin(), column.bytes.end());
  }
  for (const int64_t label : batch.labels) absl::StrAppend(&text, " ", label);
  return Checksum(text);
}

LoaderOptions LoadAll(const Schema& schema, CachePolicy cache) {
  LoaderOptions options;
  options.seed_type = "user";
  options.sampling = SamplingSpec::Uniform(schema, {3, 2});
  options.batch_size = 8;
  options.columns = {{"user", "features"}, {"item", "features"}};
  options.cache = cache;
  options.cache_rows = cache == CachePolicy::kNone ? 0 : 60;
  options.window_bytes = 16 << 10;
  options.batch_timeout = seconds(60);
  return options;
}

// A trainer that goes on after each error until its epoch is over.
class LoadedEpoch {
 public:
  LoadedEpoch(const testing::RoutedGraph& graph, const std::vector<uint64_t>& expected,
              uint64_t seed)
      : expected_(expected), trouble_(seed, &timer_), passing_(&timer_) {
    watch_.timer = &timer_;
    watch_.time = &passing_;
    testing::ReplicaWorld world;
    world.num_servers = kNumServers;
    world.seed = seed;
    world.fates = [this](int server, uint64_t question) {
      return trouble_.Decide(server, question);
    };
    world_ = std::make_unique<testing::SimulatedReplicas>(world, &timer_);
    std::vector<std::unique_ptr<ShardAccess>> shards;
    for (const std::unique_ptr<Shard>& shard : graph.dataset().shards()) {
      near_.push_back(MakeMappedShard(graph.dataset(), *shard, &local_));
      shards.push_back(std::make_unique<WatchedShard>(
          world_->Replicate(shard->id(), near_.back().get(), ServersOf(shard->id().value)),
          &watch_));
    }
    router_ = std::make_unique<ShardRouter>(graph.dataset().schema(), graph.dataset().book(),
                                            std::move(shards),
                                            HomesOfRankings(graph.dataset().manifest().rankings()));
  }

  void Run(CachePolicy cache, Totals* totals) {
    std::unique_ptr<LoaderCore> loader;
    for (int tries = 0; loader == nullptr; ++tries) {
      REQUIRE(tries < kMostErrors);
      auto made = LoaderCore::Create(*router_, LoadAll(router_->schema(), cache));
      if (made.ok()) {
        loader = *std::move(made);
      } else {
        CheckError(made.status(), totals);
      }
    }
    size_t step = 0;
    for (int tries = 0; step < expected_.size(); ++tries) {
      REQUIRE(tries < kMostErrors);
      VICINITY_REQUIRE_OK(loader->StartEpoch(0, static_cast<int64_t>(step)));
      const absl::Status end = ReadOn(loader.get(), &step);
      if (!end.ok()) CheckError(end, totals);
    }
    REQUIRE(watch_.late == 0);
    CheckAmplification(world_->traffic(), timer_.Now());
    totals->Add(world_->traffic());
  }

 private:
  static constexpr int kMostErrors = 40;

  absl::Status ReadOn(LoaderCore* loader, size_t* step) {
    while (true) {
      auto batch = loader->Next();
      if (!batch.ok()) return batch.status();
      if (*batch == nullptr) return absl::OkStatus();
      REQUIRE(*step < expected_.size());
      REQUIRE(Digest(**batch) == expected_[*step]);
      ++*step;
    }
  }
  static void CheckError(const absl::Status& error, Totals* totals) {
    INFO(error);
    REQUIRE(kTyped.count(error.code()) == 1);
    ++totals->errors;
  }

  const std::vector<uint64_t>& expected_;
  testing::VirtualTimer timer_;
  Trouble trouble_;
  TrafficCounters local_;
  WatchedShard::Watch watch_;
  std::vector<std::unique_ptr<ShardAccess>> near_;
  std::unique_ptr<testing::SimulatedReplicas> world_;
  testing::PassingTime passing_;
  std::unique_ptr<ShardRouter> router_;
};

std::vector<uint64_t> WithoutTrouble(const testing::RoutedGraph& graph) {
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const std::unique_ptr<LoaderCore> loader,
      LoaderCore::Create(graph.router(), LoadAll(graph.router().schema(), CachePolicy::kNone)));
  VICINITY_REQUIRE_OK(loader->StartEpoch(0, 0));
  std::vector<uint64_t> digests;
  while (true) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<MiniBatch> batch, loader->Next());
    if (batch == nullptr) return digests;
    digests.push_back(Digest(*batch));
  }
}

TEST_CASE("an epoch through every kind of trouble has the same bytes", "[simulation]") {
  testing::RoutedGraph graph(testing::TypedGraph(120, 80, 16, 9), kNumShards);
  graph.Rank("default");
  const std::vector<uint64_t> expected = WithoutTrouble(graph);
  REQUIRE(expected.size() >= 3);
  Totals totals;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    INFO("seed " << seed);
    constexpr CachePolicy kCaches[] = {CachePolicy::kNone, CachePolicy::kVip, CachePolicy::kAuto};
    LoadedEpoch(graph, expected, seed).Run(kCaches[seed % 3], &totals);
  }
  WARN(totals.Text());
  CHECK(totals.attempts * 10 <= totals.calls * 11);
  CHECK(totals.hedge_wins > 0);
  CHECK(totals.errors < static_cast<int64_t>(kSeeds) / 10);
}

}  // namespace
}  // namespace vicinity
