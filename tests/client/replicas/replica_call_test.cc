#include "client/replicas/replica_call.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "client/replicas/replica_question.h"
#include "client/replicas/retry_policy.h"
#include "client/shards/call_context.h"
#include "client/shards/cancellation.h"
#include "proto/common/retry_delay.h"
#include "proto/telemetry/trace/span.h"
#include "proto/telemetry/trace/tracer.h"
#include "proto/telemetry/trace_context.h"
#include "tests/client/pattern_shard.h"
#include "tests/client/simulated_replicas.h"
#include "tests/testing/graphs/simulated_shard.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/virtual_timer.h"

namespace vicinity {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Fate;

constexpr std::array<uint64_t, 4> kRows = {3, 1, 4, 1};
constexpr int64_t kRowBytes = 8;

Fate Fails(absl::StatusCode code) {
  Fate fate;
  fate.status = absl::Status(code, "scripted");
  return fate;
}

Fate After(Timer::Time delay) {
  Fate fate;
  fate.delay = delay;
  return fate;
}

Fate Lost() {
  Fate fate;
  fate.lost = true;
  return fate;
}

// Calls to a shard on a few servers, whose answers are scripted; what is not comes after 1 ms.
class ReplicaCallTest {
 protected:
  void Make(int num_servers, bool hedge = true) {
    testing::ReplicaWorld world;
    world.num_servers = num_servers;
    world.hedge = hedge;
    world.fates = [this](int server, uint64_t question) {
      std::deque<Fate>& script =
          question == testing::ReplicaWorld::kProbe ? probes_[server] : calls_[server];
      if (script.empty()) return Fate();
      const Fate fate = script.front();
      // The last of a script that is to go on stays.
      if (script.size() > 1 || !endless_) script.pop_front();
      return fate;
    };
    world_ = std::make_unique<testing::SimulatedReplicas>(world, &timer_);
    std::vector<int> servers;
    for (int s = 0; s < num_servers; ++s) servers.push_back(s);
    set_ = std::make_unique<ReplicaSet>(ShardId{4}, world_->Replicas(&near_, servers));
    RunFor(milliseconds(1));
  }
  // Server `s` is the busiest, so it is asked last of those that have not failed.
  void AskLast(int s) { world_->server(s).Begin(1 << 30); }
  void RunFor(Timer::Time length) {
    const Timer::Time end = timer_.Now() + length;
    timer_.Schedule(end, [] {});
    timer_.RunUntil([] { return false; }, end);
  }

  struct Outcome {
    absl::Status status;
    Timer::Time took{0};
    bool right = false;  // the rows are those asked for
  };
  void Begin(Cancellation* cancel = nullptr) { Begin(world_->tools(), cancel); }
  void Begin(const CallTools& tools, Cancellation* cancel) {
    ShardRows rows;
    rows.rows = kRows;
    rows.row_bytes = kRowBytes;
    rows.out = out_.data();
    outcome_.reset();
    const Timer::Time before = timer_.Now();
    ReplicaCall::Start(tools, set_.get(), QuestionOf(rows), cancel,
                       [this, before](const absl::Status& status) {
                         REQUIRE_FALSE(outcome_.has_value());
                         outcome_ = Outcome{status, timer_.Now() - before, Right()};
                       });
  }
  Outcome Call() { return CallWith(world_->tools()); }
  Outcome CallWith(const CallTools& tools) {
    Begin(tools, nullptr);
    REQUIRE(timer_.RunUntil([this] { return outcome_.has_value(); }, timer_.Now() + seconds(60)));
    return *outcome_;
  }
  bool Right() const {
    for (size_t i = 0; i < out_.size(); ++i) {
      if (out_[i] != testing::PatternShard::ByteOf(kRows[i / kRowBytes], i % kRowBytes)) {
        return false;
      }
    }
    return true;
  }
  // So many calls that take 1 ms: enough to know how long calls take.
  void WarmUp(int calls = 200) {
    for (int i = 0; i < calls; ++i) REQUIRE(Call().right);
  }

  testing::VirtualTimer timer_;
  testing::PatternShard near_;
  std::array<std::deque<Fate>, 3> calls_;
  std::array<std::deque<Fate>, 3> probes_;
  bool endless_ = false;
  std::unique_ptr<testing::SimulatedReplicas> world_;
  std::unique_ptr<ReplicaSet> set_;
  std::vector<char> out_ = std::vector<char>(kRows.size() * kRowBytes);
  std::optional<Outcome> outcome_;
};

TEST_CASE_METHOD(ReplicaCallTest, "a call that nothing happens to takes one attempt",
                 "[replica_call]") {
  Make(2);
  const Outcome outcome = Call();
  VICINITY_CHECK_OK(outcome.status);
  CHECK(outcome.right);
  CHECK(outcome.took == milliseconds(1));
  CHECK(world_->traffic().shard_calls == 1);
  CHECK(world_->traffic().attempts == 1);
  CHECK(world_->server(0).bytes_in_flight() + world_->server(1).bytes_in_flight() == 0);
}

TEST_CASE_METHOD(ReplicaCallTest, "what one server fails at another mends", "[replica_call]") {
  Make(2);
  AskLast(1);
  calls_[0] = {
      Fails(GENERATE(absl::StatusCode::kUnavailable, absl::StatusCode::kDeadlineExceeded,
                     absl::StatusCode::kAborted, absl::StatusCode::kInternal,
                     absl::StatusCode::kUnknown, absl::StatusCode::kDataLoss,
                     absl::StatusCode::kResourceExhausted, absl::StatusCode::kFailedPrecondition))};
  const Outcome outcome = Call();
  VICINITY_CHECK_OK(outcome.status);
  CHECK(outcome.right);
  CHECK(outcome.took <= milliseconds(12));  // two answers and a wait of up to 10 ms
  CHECK(world_->traffic().attempts == 2);
  CHECK(world_->traffic().retries == 1);
  CHECK(world_->traffic().hedges == 0);
}

TEST_CASE_METHOD(ReplicaCallTest, "what no server can mend is not tried again", "[replica_call]") {
  Make(2);
  AskLast(1);
  const absl::StatusCode code =
      GENERATE(absl::StatusCode::kInvalidArgument, absl::StatusCode::kPermissionDenied,
               absl::StatusCode::kUnimplemented);
  calls_[0] = {Fails(code)};
  VICINITY_CHECK_CODE(Call().status, code);
  CHECK(world_->traffic().attempts == 1);
}

TEST_CASE_METHOD(ReplicaCallTest, "an attempt without an answer is given up", "[replica_call]") {
  Make(2);
  AskLast(1);
  calls_[0] = {Lost()};
  const Outcome outcome = Call();
  CHECK(outcome.right);
  CHECK(outcome.took >= seconds(5));
  CHECK(outcome.took <= seconds(5) + milliseconds(11));
}

TEST_CASE_METHOD(ReplicaCallTest, "an alone server is asked four times", "[replica_call]") {
  Make(1);
  endless_ = true;
  calls_[0] = {Fails(absl::StatusCode::kAborted)};
  const Outcome outcome = Call();
  VICINITY_CHECK_CODE(outcome.status, absl::StatusCode::kAborted);  // all failed alike
  CHECK_THAT(std::string(outcome.status.message()), Catch::Contains("shard 4: FetchRows"));
  CHECK(world_->traffic().attempts == 4);
  CHECK(outcome.took < seconds(1));
}

TEST_CASE_METHOD(ReplicaCallTest, "when all fail the error names the shard and all its servers",
                 "[replica_call]") {
  Make(3);
  endless_ = true;
  calls_[0] = {Fails(absl::StatusCode::kUnavailable)};
  calls_[1] = {Fails(absl::StatusCode::kDataLoss)};
  calls_[2] = {Fails(absl::StatusCode::kInternal)};
  const Outcome outcome = Call();
  VICINITY_CHECK_CODE(outcome.status, absl::StatusCode::kUnavailable);
  CHECK(world_->traffic().attempts == 10);
  const std::string text(outcome.status.message());
  CHECK_THAT(text, Catch::StartsWith("shard 4: FetchRows: no answer in "));
  CHECK_THAT(text, Catch::Contains("10 attempts: scripted; scripted; scripted"));
}

TEST_CASE_METHOD(ReplicaCallTest, "a call ends when its budget does", "[replica_call]") {
  Make(2);
  endless_ = true;
  calls_[0] = {Lost()};
  calls_[1] = {Lost()};
  const Outcome outcome = Call();
  VICINITY_CHECK_CODE(outcome.status, absl::StatusCode::kDeadlineExceeded);
  CHECK(outcome.took >= seconds(14));
  CHECK(outcome.took <= seconds(15));
  CHECK_THAT(std::string(outcome.status.message()),
             Catch::Contains("shard 4 at s0: FetchRows") && Catch::Contains("shard 4 at s1"));
  CHECK(world_->server(0).bytes_in_flight() == 0);
}

TEST_CASE_METHOD(ReplicaCallTest, "with no server live a call waits for one", "[replica_call]") {
  Make(2);
  world_->server(0).Expel(absl::UnavailableError("gone"));
  world_->server(1).Expel(absl::UnavailableError("gone, too"));
  SECTION("that comes back") {
    for (int i = 0; i < 5; ++i) {
      probes_[0].push_back(Fails(absl::StatusCode::kUnavailable));
      probes_[1].push_back(Fails(absl::StatusCode::kUnavailable));
    }
    const Outcome outcome = Call();
    CHECK(outcome.right);
    CHECK(outcome.took < seconds(1));  // probes come soon, since a call waits
    CHECK(world_->traffic().attempts == 1);
  }
  SECTION("in vain") {
    endless_ = true;
    probes_[0] = {Fails(absl::StatusCode::kUnavailable)};
    probes_[1] = {Fails(absl::StatusCode::kFailedPrecondition)};
    const Outcome outcome = Call();
    VICINITY_CHECK_CODE(outcome.status, absl::StatusCode::kUnavailable);
    CHECK(outcome.took == seconds(15));
    CHECK_THAT(std::string(outcome.status.message()),
               Catch::Contains("shard 4 at s0: FetchRows: not asked: scripted; shard 4 at s1"));
    CHECK(world_->traffic().attempts == 0);
  }
}

TEST_CASE_METHOD(ReplicaCallTest, "servers that restart together are waited for",
                 "[replica_call]") {
  const int num_servers = GENERATE(1, 2, 3);
  Make(num_servers);
  endless_ = true;
  for (int s = 0; s < num_servers; ++s) {
    calls_[s] = probes_[s] = {Fails(absl::StatusCode::kUnavailable)};
  }
  timer_.Schedule(timer_.Now() + seconds(5), [this] { calls_ = probes_ = {}; });
  const Outcome outcome = Call();
  VICINITY_CHECK_OK(outcome.status);
  CHECK(outcome.right);
  CHECK(outcome.took >= seconds(5));
  CHECK(outcome.took < seconds(6));
  CHECK(world_->traffic().attempts == 3 * num_servers + 1);
}

TEST_CASE_METHOD(ReplicaCallTest, "a server is left alone for as long as it says",
                 "[replica_call]") {
  Make(1);
  Fate busy = Fails(absl::StatusCode::kResourceExhausted);
  busy.status = WithRetryDelay(busy.status, milliseconds(700));
  calls_[0] = {busy};
  const Outcome outcome = Call();
  CHECK(outcome.right);
  CHECK(outcome.took >= milliseconds(701));
  CHECK(outcome.took <= milliseconds(730));
  CHECK(world_->server(0).live());  // busy is not broken
}

TEST_CASE_METHOD(ReplicaCallTest, "a server of another dataset is out at once", "[replica_call]") {
  SECTION("and the other is asked") {
    Make(2);
    AskLast(1);
    calls_[0] = {Fails(absl::StatusCode::kFailedPrecondition)};
    CHECK(Call().right);
    CHECK_FALSE(world_->server(0).live());
  }
  SECTION("and without another that is the error") {
    Make(1);
    calls_[0] = {Fails(absl::StatusCode::kFailedPrecondition)};
    const Outcome outcome = Call();
    VICINITY_CHECK_CODE(outcome.status, absl::StatusCode::kFailedPrecondition);
    CHECK(outcome.took == milliseconds(1));
  }
}

TEST_CASE_METHOD(ReplicaCallTest, "where another dataset has followed nobody waits for this one",
                 "[replica_call]") {
  Make(2);
  endless_ = true;
  const absl::Status followed = absl::FailedPreconditionError("another has taken its place");
  calls_[0] = calls_[1] = probes_[0] = probes_[1] = {Fails(absl::StatusCode::kUnavailable)};
  world_->server(0).OnReplaced(followed);
  SECTION("as soon as all servers have said so") {
    Begin();
    RunFor(milliseconds(30));
    CHECK_FALSE(outcome_.has_value());  // the other may have it yet
    world_->server(1).OnReplaced(followed);
    RunFor(milliseconds(30));
    REQUIRE(outcome_.has_value());
    CHECK(outcome_->status == followed);
  }
  SECTION("unless one has it again") {
    world_->server(1).OnReplaced(followed);
    CHECK(Call().status == followed);
    RunFor(seconds(2));  // probes fail meanwhile, for other reasons
    CHECK(Call().status == followed);
    calls_[1] = probes_[1] = {Fate()};
    RunFor(seconds(10));
    CHECK(Call().right);
  }
}

TEST_CASE_METHOD(ReplicaCallTest, "a server that came back without its shard fails no call",
                 "[replica_call]") {
  Make(2);
  endless_ = true;
  calls_[0] = probes_[0] = {Fails(absl::StatusCode::kFailedPrecondition)};
  for (int i = 0; i < 20; ++i) REQUIRE(Call().right);
  CHECK_FALSE(world_->server(0).live());
  CHECK(world_->traffic().retries == 1);
}

TEST_CASE_METHOD(ReplicaCallTest, "a ranking that is not there is asked for once",
                 "[replica_call]") {
  Make(2);
  calls_[0] = calls_[1] = {Fails(absl::StatusCode::kNotFound)};
  RankedNodes out;
  ShardRanking ranking;
  ranking.count = 3;
  ranking.out = &out;
  std::optional<absl::Status> end;
  ReplicaCall::Start(world_->tools(), set_.get(), QuestionOf(ranking), nullptr,
                     [&end](const absl::Status& status) { end = status; });
  RunFor(milliseconds(100));
  REQUIRE(end.has_value());
  VICINITY_CHECK_CODE(*end, absl::StatusCode::kNotFound);
  CHECK(world_->traffic().attempts == 1);
  CHECK(world_->server(0).live());
  CHECK(world_->server(1).live());
}

TEST_CASE_METHOD(ReplicaCallTest, "a copy that is damaged does not take its server out",
                 "[replica_call]") {
  Make(2);
  endless_ = true;
  calls_[0] = {Fails(absl::StatusCode::kDataLoss)};
  for (int i = 0; i < 50; ++i) REQUIRE(Call().right);
  CHECK(world_->server(0).live());
  CHECK(world_->traffic().retries <= 3);  // it is avoided for longer and longer
}

TEST_CASE_METHOD(ReplicaCallTest, "where too many calls fail, others wait before they are repeated",
                 "[replica_call]") {
  Make(2, false);
  endless_ = true;
  calls_[0] = {Fails(absl::StatusCode::kResourceExhausted)};
  AskLast(1);  // so that every call fails first
  const Timer::Time before = timer_.Now();
  for (int i = 0; i < 40; ++i) {
    const Outcome outcome = Call();
    REQUIRE(outcome.right);
    if (i < 10) CHECK(outcome.took < milliseconds(50));
    CHECK(outcome.took < milliseconds(1100));
  }
  CHECK(world_->traffic().attempts == 40 + 40);
  // Ten tokens at first and four for the successes; the others come one a second.
  CHECK(timer_.Now() - before >= seconds(25));
  CHECK(timer_.Now() - before <= seconds(27));
}

TEST_CASE_METHOD(ReplicaCallTest, "a call that waits too long to be repeated says so",
                 "[replica_call]") {
  Make(1, false);
  for (int i = 0; i < 10; ++i) REQUIRE(world_->tools().budget->TryTake(timer_.Now()));
  RetryPolicy hasty;
  hasty.call_budget = milliseconds(500);
  endless_ = true;
  calls_[0] = {Fails(absl::StatusCode::kAborted)};
  CallTools tools = world_->tools();
  tools.policy = hasty;
  const Outcome outcome = CallWith(tools);
  VICINITY_CHECK_CODE(outcome.status, absl::StatusCode::kAborted);
  CHECK(outcome.took == milliseconds(500));
  CHECK_THAT(std::string(outcome.status.message()), Catch::Contains("too many calls failed"));
}

TEST_CASE_METHOD(ReplicaCallTest, "a slow answer is overtaken by a hedge", "[replica_call]") {
  Make(2);
  WarmUp();
  AskLast(1);
  calls_[0] = {After(seconds(1))};
  const Outcome outcome = Call();
  CHECK(outcome.right);
  CHECK(outcome.took == milliseconds(5) + milliseconds(1));  // the percentile is below 5 ms
  CHECK(world_->traffic().hedges == 1);
  CHECK(world_->traffic().hedge_wins == 1);
  CHECK(world_->traffic().retries == 0);
  CHECK(world_->server(0).bytes_in_flight() == 0);  // the loser is over
  // Where the first answers after all, its answer counts.
  calls_[0] = {After(milliseconds(20))};
  calls_[1] = {After(milliseconds(100))};
  CHECK(Call().took == milliseconds(20));
  CHECK(world_->traffic().hedges == 2);
  CHECK(world_->traffic().hedge_wins == 1);
}

TEST_CASE_METHOD(ReplicaCallTest, "retries and hedges are of their call's trace",
                 "[replica_call]") {
  Make(2);
  WarmUp();
  const TraceContext trace = StartTrace();
  std::vector<std::string> traces;
  const bool hedged = GENERATE(false, true);
  ReplicaQuestion question;
  question.operation = kRequestIndex<ShardRows>;  // whose latencies are known
  question.ask = [&](ShardAccess& /*shard*/, const CallContext& context, Done done) {
    traces.push_back(TraceId(context.trace));
    if (hedged) {  // no answer, until the hedge has won
      context.cancel->Add([done] { done(absl::CancelledError("slow")); });
    } else {
      done(traces.size() == 1 ? absl::UnavailableError("once") : absl::OkStatus());
    }
  };
  question.apart = [&] {
    ReplicaQuestion::Apart apart;
    apart.ask = [&](ShardAccess& /*shard*/, const CallContext& context, Done done) {
      traces.push_back(TraceId(context.trace));
      done(absl::OkStatus());
    };
    apart.take = [] {};
    return apart;
  };
  std::optional<absl::Status> status;
  ReplicaCall::Start(world_->tools(), set_.get(), std::move(question), {nullptr, trace},
                     [&](const absl::Status& end) { status = end; });
  REQUIRE(timer_.RunUntil([&] { return status.has_value(); }, timer_.Now() + seconds(60)));
  VICINITY_CHECK_OK(*status);
  CHECK(traces == std::vector<std::string>(2, TraceId(trace)));
}

class Kept final : public SpanSink {
 public:
  void Take(const Spans& spans) override { operations.push_back(spans); }
  std::vector<Spans> operations;
};

TEST_CASE_METHOD(ReplicaCallTest, "a sampled call leaves its attempts, the hedge and the lost one",
                 "[replica_call]") {
  Make(2);
  WarmUp();
  AskLast(1);
  calls_[0] = {After(milliseconds(100))};
  Kept kept;
  Tracer::Options options;
  options.sinks = {&kept};
  Tracer tracer(options);
  CallTools tools = world_->tools();
  tools.tracer = &tracer;
  TraceContext trace = StartTrace();
  trace.sampled = GENERATE(true, false);
  ShardRows rows;
  rows.rows = kRows;
  rows.row_bytes = kRowBytes;
  rows.out = out_.data();
  std::optional<absl::Status> end;
  ReplicaCall::Start(tools, set_.get(), QuestionOf(rows), {nullptr, trace},
                     [&](const absl::Status& status) { end = status; });
  REQUIRE(timer_.RunUntil([&] { return end.has_value(); }, timer_.Now() + seconds(60)));
  VICINITY_CHECK_OK(*end);
  CHECK(world_->traffic().hedges == 1);
  REQUIRE(kept.operations.size() == (trace.sampled ? 1 : 0));
  if (!trace.sampled) return;
  const Spans& spans = kept.operations[0];
  REQUIRE(spans.size() == 3);
  CHECK(spans[0].name == "FetchRows");
  CHECK(spans[0].parent == trace.span);
  CHECK(spans[1].name == "attempt");
  CHECK(spans[1].code == absl::StatusCode::kCancelled);
  CHECK(spans[1].attributes[1].first == std::string("lost"));
  CHECK(spans[2].name == "hedge");
  CHECK(spans[2].code == absl::StatusCode::kOk);
  CHECK(spans[2].attributes[1].first == std::string("won"));
  CHECK(std::get<std::string>(spans[2].attributes[0].second) == "s1");
  for (size_t i = 1; i < spans.size(); ++i) {
    CHECK(TraceId(spans[i].context) == TraceId(trace));
    CHECK(spans[i].context.sampled);
    CHECK(spans[i].parent == spans[0].context.span);
    CHECK(spans[i].start >= spans[0].start);
    CHECK(spans[i].end <= spans[0].end);
  }
}

TEST_CASE_METHOD(ReplicaCallTest, "a hedge for which there was no token is saved for later",
                 "[replica_call]") {
  Make(2);
  WarmUp();
  while (world_->tools().hedging->TryTake()) continue;
  WarmUp(20);  // for one hedge
  while (world_->tools().budget->TryTake(timer_.Now())) continue;
  AskLast(1);
  calls_[0] = {After(milliseconds(100))};
  CHECK(Call().took == milliseconds(100));
  CHECK(world_->traffic().hedges == 0);
  RunFor(seconds(2));
  calls_[0] = {After(milliseconds(100))};
  CHECK(Call().took == milliseconds(6));
  CHECK(world_->traffic().hedges == 1);
}

TEST_CASE_METHOD(ReplicaCallTest, "a hedge that fails leaves the call to the first",
                 "[replica_call]") {
  Make(2);
  WarmUp();
  AskLast(1);
  calls_[0] = {After(milliseconds(300))};
  calls_[1] = {Fails(GENERATE(absl::StatusCode::kUnavailable, absl::StatusCode::kDataLoss))};
  const Outcome outcome = Call();
  CHECK(outcome.right);
  CHECK(outcome.took == milliseconds(300));
}

TEST_CASE_METHOD(ReplicaCallTest, "a call is hedged once at most, and calls seldom",
                 "[replica_call]") {
  Make(3);
  WarmUp(1000);
  endless_ = true;
  for (int s = 0; s < 3; ++s) calls_[s] = {After(milliseconds(40))};
  const int64_t before = world_->traffic().attempts;
  for (int i = 0; i < 100; ++i) {
    REQUIRE(Call().right);
    REQUIRE(world_->traffic().attempts - before <= 2 * (i + 1));
  }
  CHECK(world_->traffic().hedges >= 5);
  CHECK(world_->traffic().hedges <= 15);  // ten that were saved, and 5 %
}

TEST_CASE_METHOD(ReplicaCallTest, "a server that stops is found out by hedges and comes back",
                 "[replica_call]") {
  Make(2);
  WarmUp(400);
  endless_ = true;
  calls_[0] = {Lost()};
  probes_[0] = {Lost()};
  int64_t longest = 0;
  for (int i = 0; i < 50; ++i) {
    const Outcome outcome = Call();
    REQUIRE(outcome.right);
    longest = std::max<int64_t>(longest, outcome.took.count());
  }
  CHECK_FALSE(world_->server(0).live());
  CHECK(world_->traffic().hedge_wins == 3);
  CHECK(world_->traffic().quarantines == 1);
  CHECK(Timer::Time(longest) == milliseconds(6));
  calls_[0].clear();
  probes_[0].clear();
  RunFor(seconds(11));
  CHECK(world_->server(0).live());
  WarmUp(20);
}

TEST_CASE_METHOD(ReplicaCallTest, "a call can be cancelled at any time", "[replica_call]") {
  Make(2);
  Cancellation cancel;
  SECTION("before it begins") { cancel.Cancel(); }
  SECTION("while an attempt runs") { calls_[0] = calls_[1] = {Lost()}; }
  SECTION("while it waits to try again") {
    calls_[0] = calls_[1] = {Fails(absl::StatusCode::kUnavailable)};
    probes_[0] = probes_[1] = {Lost()};
  }
  SECTION("while it waits for a server") {
    world_->server(0).Expel(absl::UnavailableError("gone"));
    world_->server(1).Expel(absl::UnavailableError("gone"));
    probes_[0] = probes_[1] = {Lost()};
  }
  Begin(&cancel);
  if (!cancel.cancelled()) timer_.RunUntil([] { return false; }, timer_.Now() + milliseconds(1));
  const Timer::Time before = timer_.Now();
  cancel.Cancel();
  REQUIRE(outcome_.has_value());
  CHECK(timer_.Now() == before);
  VICINITY_CHECK_CODE(outcome_->status, absl::StatusCode::kCancelled);
  RunFor(seconds(1));
  CHECK(world_->server(0).bytes_in_flight() + world_->server(1).bytes_in_flight() == 0);
}

TEST_CASE_METHOD(ReplicaCallTest, "while both attempts run a cancelled call ends both",
                 "[replica_call]") {
  Make(2);
  WarmUp();
  Cancellation cancel;
  calls_[0] = calls_[1] = {Lost()};
  Begin(&cancel);
  RunFor(milliseconds(100));
  CHECK(world_->traffic().hedges == 1);
  cancel.Cancel();
  REQUIRE(outcome_.has_value());
  VICINITY_CHECK_CODE(outcome_->status, absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace vicinity
