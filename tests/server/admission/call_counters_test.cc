#include "server/admission/call_counters.h"

#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

namespace vicinity {
namespace {

constexpr size_t kHello = 0;
constexpr size_t kRows = 1;
constexpr size_t kStatus = 2;

TEST_CASE("calls are counted by method, with what they sent and how they ended", "[counters]") {
  CallCounters counters({{"Hello"}, {"FetchRows"}, {"Status"}});
  {
    CallCounters::Running good(&counters, kRows);
    CallCounters::Running bad(&counters, kRows);
    CallCounters::Running other(&counters, kHello);
    CHECK(counters.in_flight() == 3);
    good.AddSent(100);
    good.AddSent(28);
    good.AddReceived(16);
    good.AddCopied(150);
    good.Finish(absl::StatusCode::kOk);
    bad.AddSent(1);
    bad.Finish(absl::StatusCode::kNotFound);
    other.Finish(absl::StatusCode::kOk);
  }
  CHECK(counters.in_flight() == 0);
  const MethodCounts rows = counters.counts(kRows);
  CHECK(rows.started == 2);
  CHECK(rows.failed == 1);
  CHECK(rows.bytes_sent == 129);
  CHECK(rows.bytes_received == 16);
  CHECK(rows.bytes_copied == 150);
  CHECK(rows.busy_seconds > 0);
  CHECK(counters.counts(kHello).started == 1);
  CHECK(counters.counts(kHello).failed == 0);
  CHECK(counters.counts(kStatus).started == 0);
}

TEST_CASE("a call that nobody finished counts as failed", "[counters]") {
  CallCounters counters({{"Hello"}, {"FetchRows"}, {"Status"}});
  { CallCounters::Running lost(&counters, kStatus); }
  CHECK(counters.counts(kStatus).failed == 1);
}

TEST_CASE("counts of many threads add up", "[counters]") {
  constexpr int kThreads = 4;
  constexpr int kCalls = 1000;
  CallCounters counters({{"Hello"}, {"FetchRows"}, {"Status"}});
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&counters] {
      for (int i = 0; i < kCalls; ++i) {
        CallCounters::Running call(&counters, kRows);
        call.AddSent(3);
        call.Finish(i % 2 == 0 ? absl::StatusCode::kOk : absl::StatusCode::kAborted);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const MethodCounts counts = counters.counts(kRows);
  CHECK(counts.started == kThreads * kCalls);
  CHECK(counts.failed == kThreads * kCalls / 2);
  CHECK(counts.bytes_sent == 3 * kThreads * kCalls);
  CHECK(counters.in_flight() == 0);
}

}  // namespace
}  // namespace vicinity
