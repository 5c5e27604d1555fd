#include "client/async_calls.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/replicas/real_timer.h"
#include "client/shards/call_context.h"
#include "client/shards/shard_router.h"
#include "proto/common/mutex.h"
#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/virtual_timer.h"

namespace vicinity {
namespace {

using std::chrono::milliseconds;
using testing::VirtualTimer;
using OnDone = std::function<void(Result<int>)>;

constexpr milliseconds kTimeout(1000);
constexpr std::chrono::seconds kLimit(60);  // of what would otherwise hang

// A count that can be waited for.
class Counter {
 public:
  void Add() {
    MutexLock lock(&mu_);
    ++count_;
    changed_.NotifyAll();
  }
  bool WaitFor(int count) {
    const auto end = std::chrono::steady_clock::now() + kLimit;
    MutexLock lock(&mu_);
    while (count_ < count && std::chrono::steady_clock::now() < end) {
      changed_.WaitFor(&mu_, std::chrono::seconds(1));
    }
    return count_ >= count;
  }

 private:
  Mutex mu_;
  CondVar changed_;
  int count_ ABSL_GUARDED_BY(mu_) = 0;
};

// What callbacks were given, in their order: "7", or the code's name.
class Answers {
 public:
  OnDone Callback() {
    return [this](const Result<int>& answer) {
      Note(answer.ok() ? std::to_string(*answer) : ErrorCodeName(answer.error().code()));
    };
  }
  void Note(const std::string& what) {
    MutexLock lock(&mu_);
    all_.push_back(what);
    told_.Add();
  }
  std::vector<std::string> Await(int count) {
    CHECK(told_.WaitFor(count));
    MutexLock lock(&mu_);
    return all_;
  }

 private:
  Counter told_;
  Mutex mu_;
  std::vector<std::string> all_ ABSL_GUARDED_BY(mu_);
};

using Texts = std::vector<std::string>;

// Whose deadlines come when a test says so.
struct TimedCalls {
  explicit TimedCalls(const AsyncCalls::Options& options) {
    auto owned = std::make_unique<VirtualTimer>();
    timer = owned.get();
    VICINITY_ASSERT_OK_AND_ASSIGN(calls, AsyncCalls::Create(options, std::move(owned)));
  }
  template <typename Work>
  absl::StatusOr<AsyncCall> Begin(Work work, OnDone on_done) {
    return calls->Begin(kTimeout, std::move(work), std::move(on_done));
  }

  VirtualTimer* timer = nullptr;
  std::shared_ptr<AsyncCalls> calls;
};

absl::StatusOr<int> Seven(const CallContext& /*context*/) { return 7; }

// Work that a shard holds up: it begins, and ends when it is cancelled.
struct HeldWork {
  std::shared_ptr<Counter> begun = std::make_shared<Counter>();

  absl::StatusOr<int> operator()(const CallContext& context) const {
    const auto cancelled = std::make_shared<Counter>();
    context.cancel->Add([cancelled] { cancelled->Add(); });
    begun->Add();
    return cancelled->WaitFor(1) ? absl::CancelledError("hop 0: shard 1: cancelled")
                                 : absl::InternalError("never cancelled");
  }
};

TEST_CASE("each call tells its answer once, begun from any thread", "[async_calls]") {
  constexpr int kThreads = 4;
  constexpr int kEach = 200;
  TimedCalls timed({3, kThreads * kEach});
  std::vector<std::atomic<int>> told(size_t{kThreads} * kEach);
  Counter all;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = t * kEach; i < (t + 1) * kEach; ++i) {
        const auto begun = timed.Begin([i](const CallContext&) -> absl::StatusOr<int> { return i; },
                                       [&, i](const Result<int>& answer) {
                                         if (answer.ok() && *answer == i) told[i].fetch_add(1);
                                         all.Add();
                                       });
        if (!begun.ok()) all.Add();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(all.WaitFor(kThreads * kEach));
  timed.calls->Stop();
  for (const std::atomic<int>& times : told) CHECK(times.load() == 1);
}

TEST_CASE("an error of the work is the answer", "[async_calls]") {
  Answers answers;
  TimedCalls timed({1, 8});
  for (const absl::Status& met : {absl::UnavailableError("away"), absl::CancelledError("not us")}) {
    VICINITY_REQUIRE_OK(timed
                            .Begin([met](const CallContext&) -> absl::StatusOr<int> { return met; },
                                   answers.Callback())
                            .status());
  }
  CHECK(answers.Await(2) == Texts{"UNAVAILABLE", "CANCELLED"});
}

TEST_CASE("a call too many is refused and never tells", "[async_calls]") {
  Answers answers;
  TimedCalls timed({1, 2});
  const HeldWork held;
  VICINITY_ASSERT_OK_AND_ASSIGN(const AsyncCall working, timed.Begin(held, answers.Callback()));
  CHECK(held.begun->WaitFor(1));
  VICINITY_REQUIRE_OK(timed.Begin(Seven, answers.Callback()).status());
  VICINITY_CHECK_CODE(timed.Begin(Seven, answers.Callback()).status(),
                      absl::StatusCode::kResourceExhausted);
  working.Cancel();
  CHECK(answers.Await(2) == Texts{"CANCELLED", "7"});
  VICINITY_REQUIRE_OK(timed.Begin(Seven, answers.Callback()).status());
  timed.calls->Stop();
  CHECK(answers.Await(3).size() == 3);
}

TEST_CASE("a callback may begin the next call, at the limit too", "[async_calls]") {
  Answers answers;
  TimedCalls timed({1, 1});
  int left = 5;
  OnDone next = [&](const Result<int>& answer) {
    if (--left > 0) {
      if (!timed.Begin(Seven, next).ok()) answers.Note("refused");
    } else {
      answers.Callback()(answer);
    }
  };
  VICINITY_REQUIRE_OK(timed.Begin(Seven, next).status());
  CHECK(answers.Await(1) == Texts{"7"});
}

TEST_CASE("a call that is cancelled in line is told though no thread is free", "[async_calls]") {
  Answers answers;
  TimedCalls timed({1, 8});
  const HeldWork held;
  VICINITY_REQUIRE_OK(timed.Begin(held, answers.Callback()).status());
  CHECK(held.begun->WaitFor(1));
  std::atomic<bool> worked{false};
  VICINITY_ASSERT_OK_AND_ASSIGN(const AsyncCall waiting, timed.Begin(
                                                             [&](const CallContext& context) {
                                                               worked = true;
                                                               return Seven(context);
                                                             },
                                                             answers.Callback()));
  waiting.Cancel();
  waiting.Cancel();
  CHECK(answers.Await(0).empty());  // not in Cancel
  REQUIRE(timed.timer->RunNext());
  CHECK(answers.Await(1) == Texts{"CANCELLED"});
  CHECK_FALSE(worked);
  CHECK(timed.timer->Now() == milliseconds(0));
}

TEST_CASE("calls end at their deadlines, at work or in line", "[async_calls]") {
  Answers answers;
  TimedCalls timed({1, 8});
  const HeldWork held;
  VICINITY_REQUIRE_OK(timed.Begin(held, answers.Callback()).status());
  CHECK(held.begun->WaitFor(1));
  VICINITY_REQUIRE_OK(timed.calls->Begin(milliseconds(10), Seven, answers.Callback()).status());
  CHECK(timed.timer->RunUntil([] { return false; }, milliseconds(10)) == false);
  CHECK(answers.Await(1) == Texts{"DEADLINE_EXCEEDED"});
  REQUIRE(timed.timer->RunNext());
  CHECK(timed.timer->Now() == kTimeout);
  CHECK(answers.Await(2) == Texts{"DEADLINE_EXCEEDED", "DEADLINE_EXCEEDED"});
  timed.calls->Stop();
  CHECK_FALSE(timed.timer->RunNext());
}

TEST_CASE("an answer that is there when the call is cancelled is told", "[async_calls]") {
  Answers answers;
  TimedCalls timed({1, 8});
  const HeldWork held;
  VICINITY_ASSERT_OK_AND_ASSIGN(const AsyncCall call,
                                timed.Begin(
                                    [held](const CallContext& context) -> absl::StatusOr<int> {
                                      held(context).IgnoreError();
                                      return 7;
                                    },
                                    answers.Callback()));
  CHECK(held.begun->WaitFor(1));
  call.Cancel();
  CHECK(answers.Await(1) == Texts{"7"});
}

TEST_CASE("a call without time, or after the end, is refused", "[async_calls]") {
  Answers answers;
  TimedCalls timed({1, 8});
  for (const milliseconds timeout : {milliseconds(0), milliseconds(-5)}) {
    VICINITY_CHECK_CODE(timed.calls->Begin(timeout, Seven, answers.Callback()).status(),
                        absl::StatusCode::kInvalidArgument);
  }
  VICINITY_REQUIRE_OK(timed.calls->Begin(milliseconds::max(), Seven, answers.Callback()).status());
  CHECK(answers.Await(1) == Texts{"7"});
  timed.calls->Stop();
  VICINITY_CHECK_CODE(timed.Begin(Seven, answers.Callback()).status(),
                      absl::StatusCode::kCancelled);
}

TEST_CASE("the end cancels what is under way and waits for the callbacks", "[async_calls]") {
  Answers answers;
  TimedCalls timed({2, 100});
  const HeldWork held;
  std::vector<AsyncCall> handles(1);  // one of no call
  // What callbacks own is gone by the end, too.
  const auto owned = std::make_shared<int>(0);
  for (int i = 0; i < 100; ++i) {
    VICINITY_ASSERT_OK_AND_ASSIGN(
        handles.emplace_back(),
        timed.Begin(
            held, [tell = answers.Callback(), owned](const Result<int>& answer) { tell(answer); }));
  }
  CHECK(held.begun->WaitFor(2));
  timed.calls->Stop();
  CHECK(owned.use_count() == 1);
  CHECK(answers.Await(100) == Texts(100, "CANCELLED"));
  timed.calls.reset();
  for (const AsyncCall& handle : handles) handle.Cancel();
}

TEST_CASE("the end waits for a callback that the timer runs", "[async_calls]") {
  Answers answers;
  TimedCalls timed({1, 8});
  const HeldWork held;
  VICINITY_REQUIRE_OK(timed.Begin(held, answers.Callback()).status());
  CHECK(held.begun->WaitFor(1));
  Counter telling;
  std::atomic<bool> told{false};
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const AsyncCall waiting, timed.Begin(Seven, [&](const Result<int>&) {
        telling.Add();
        while (!absl::IsCancelled(timed.Begin(Seven, answers.Callback()).status())) {
          std::this_thread::yield();  // until Stop has begun,
        }
        for (int i = 0; i < 10'000; ++i) std::this_thread::yield();  // and could be over
        told = true;
      }));
  waiting.Cancel();
  std::thread timer([&] { timed.timer->RunNext(); });
  CHECK(telling.WaitFor(1));
  timed.calls->Stop();
  CHECK(told);
  timer.join();
}

TEST_CASE("calls are begun, cancelled and late from everywhere at once", "[async_calls]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::shared_ptr<AsyncCalls> calls,
                                AsyncCalls::Create({3, 16}, std::make_unique<RealTimer>()));
  std::atomic<int> begun{0};
  std::atomic<int> told{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::vector<AsyncCall> handles;
      const OnDone on_done = [&](const Result<int>&) {
        told.fetch_add(1);
        if (calls->Begin(kTimeout, Seven, OnDone([&](const Result<int>&) { told.fetch_add(1); }))
                .ok()) {
          begun.fetch_add(1);
        }
      };
      for (int i = 0; i < 300; ++i) {
        const bool held = i % 3 != 0;
        absl::StatusOr<AsyncCall> call =
            held ? calls->Begin(milliseconds(1 + i % 5), HeldWork(), on_done)
                 : calls->Begin(kTimeout, Seven, on_done);
        if (!call.ok()) continue;
        begun.fetch_add(1);
        if ((i + t) % 2 == 0) call->Cancel();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  calls->Stop();
  CHECK(begun.load() > 0);
  CHECK(told.load() == begun.load());
}

TEST_CASE("rows of far shards come as they do to who waits, or not at all", "[async_calls]") {
  testing::RoutedGraph graph(testing::TypedGraph(120, 80, 20, 6), 3, {1, 2});
  const std::vector<int64_t> users = graph.GlobalIds(NodeTypeId{0});
  const auto fetch = [&](const CallContext& context) -> absl::StatusOr<std::string> {
    std::string bytes(users.size() * graph.router().RowBytes(NodeTypeId{0}, 0), '\0');
    const ColumnFetch all{NodeTypeId{0}, 0, users, {}, bytes.data()};
    const absl::Status fetched = graph.router().FetchRows({all}, context);
    if (!fetched.ok()) return fetched;
    return bytes;
  };
  Answers answers;
  TimedCalls timed({4, 64});
  const std::function<void(Result<std::string>)> on_done = [&](const Result<std::string>& rows) {
    answers.Note(rows.ok() ? *rows : ErrorCodeName(rows.error().code()));
  };
  for (int i = 0; i < 64; ++i) {
    VICINITY_REQUIRE_OK(timed.calls->Begin(kTimeout, fetch, on_done).status());
  }
  CHECK(answers.Await(64) == Texts(64, graph.graph().nodes[0].columns[0]));
  graph.faults()->silent = true;
  const int64_t asked = graph.faults()->calls;
  VICINITY_ASSERT_OK_AND_ASSIGN(const AsyncCall call, timed.calls->Begin(kTimeout, fetch, on_done));
  while (graph.faults()->calls == asked) std::this_thread::yield();
  call.Cancel();
  CHECK(answers.Await(65).back() == "CANCELLED");
}

}  // namespace
}  // namespace vicinity
