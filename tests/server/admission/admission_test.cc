// Virtual time, but for the test with threads.
#include "server/admission/admission.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/common/random.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using std::chrono::milliseconds;
using Call = Admission::Call;
using Place = Admission::Place;

constexpr Admission::Time kNoDeadline = Admission::Time::max();

// Calls, and the time that they see.
class AdmissionTest {
 protected:
  AdmissionTest() {
    limits_.max_calls = 100;
    limits_.max_client_calls = 50;
    limits_.max_running = 2;
    limits_.max_reply_bytes = 16'000;  // one reply counts as 1000 at most
    limits_.max_client_reply_bytes = 800;
  }

  Admission& admission() {
    if (admission_ == nullptr) admission_ = std::make_unique<Admission>(limits_);
    return *admission_;
  }
  Call* Enter(const std::string& client = "c", int64_t bytes = 10,
              Admission::Time deadline = kNoDeadline) {
    calls_.push_back(std::make_unique<Call>(client, bytes, deadline));
    admission().Enter(calls_.back().get(), now_);
    return calls_.back().get();
  }
  Place Look(Call* call) {
    admission().Advance(now_);
    return admission().PlaceOf(*call);
  }
  void Leave(Call* call) { admission().Leave(call, now_); }
  void Advance(milliseconds time) { now_ += time; }
  int64_t refused(Refusal why) { return admission().gauges().refused[static_cast<size_t>(why)]; }
  void CheckRefused(Call* call, Refusal why, const std::string& text) {
    CHECK(Look(call) == Place::kRefused);
    CAPTURE(call->refusal().message());
    CHECK_THAT(std::string(call->refusal().message()), Catch::Contains(text));
    CHECK(refused(why) > 0);
    CHECK(call->retry_after() > milliseconds(0));
    if (why == Refusal::kExpired) return;
    VICINITY_CHECK_CODE(call->refusal(), absl::StatusCode::kResourceExhausted);
    CHECK_THAT(std::string(call->refusal().message()),
               Catch::Contains(absl::StrCat("try again in ", call->retry_after().count(), " ms")));
  }
  void CheckEmpty() {
    const AdmissionGauges gauges = admission().gauges();
    CHECK(gauges.running == 0);
    CHECK(gauges.waiting == 0);
    CHECK(gauges.stalled == 0);
    CHECK(gauges.reply_bytes == 0);
    CHECK(gauges.clients == 0);
  }

  AdmissionLimits limits_;
  std::unique_ptr<Admission> admission_;
  std::deque<std::unique_ptr<Call>> calls_;
  Admission::Time now_{milliseconds(1'000'000)};
};

TEST_CASE_METHOD(AdmissionTest, "calls run up to the limit, then wait in order", "[admission]") {
  Call* const a = Enter();
  Call* const b = Enter();
  Call* const c = Enter();
  Call* const d = Enter();
  CHECK(Look(a) == Place::kRunning);
  CHECK(Look(b) == Place::kRunning);
  CHECK(Look(c) == Place::kWaiting);
  CHECK(Look(d) == Place::kWaiting);
  CHECK(admission().gauges().waiting == 2);
  Leave(b);
  CHECK(Look(c) == Place::kRunning);
  CHECK(Look(d) == Place::kWaiting);
  Leave(d);  // gave up
  Leave(a);
  Leave(c);
  CheckEmpty();
}

TEST_CASE_METHOD(AdmissionTest, "reply bytes in flight are bounded, large replies count as less",
                 "[admission]") {
  limits_.max_running = 100;
  std::vector<Call*> large;
  for (int i = 0; i < 16; ++i) large.push_back(Enter(absl::StrCat("c", i), INT64_MAX));
  for (Call* const call : large) CHECK(Look(call) == Place::kRunning);
  CHECK(admission().gauges().reply_bytes == 16'000);
  Call* const waits = Enter("b", 1);
  CHECK(Look(waits) == Place::kWaiting);
  // What is still to come of it does not fall below 1000 for long yet.
  admission().Sent(large[3], INT64_MAX - 1000, now_);
  CHECK(Look(waits) == Place::kWaiting);
  admission().Sent(large[3], 1, now_);
  CHECK(Look(waits) == Place::kRunning);
  Leave(waits);
  for (Call* const call : large) Leave(call);
  CheckEmpty();
}

TEST_CASE_METHOD(AdmissionTest, "one reply may always be sent, however large", "[admission]") {
  limits_.max_reply_bytes = 1;
  CHECK(Look(Enter("a", 1)) == Place::kRunning);
  CHECK(Look(Enter("b", INT64_MAX)) == Place::kWaiting);
}

TEST_CASE_METHOD(AdmissionTest, "the bytes of those that wait are bounded", "[admission]") {
  limits_.max_running = 1;
  Enter("a", 1);
  for (int i = 0; i < 16; ++i) {
    CHECK(Look(Enter(absl::StrCat("b", i), 2000)) == Place::kWaiting);
  }
  CheckRefused(Enter("d", 1), Refusal::kReplyBytes, "16000 (--max-reply-mib)");
}

TEST_CASE_METHOD(AdmissionTest, "a client has so many calls and bytes, whatever others have",
                 "[admission]") {
  limits_.max_client_calls = 2;
  Call* const a = Enter("greedy", 500);
  Enter("greedy", 300);
  CheckRefused(Enter("greedy", 0), Refusal::kClientCalls, "client greedy: it has 2 calls");
  CHECK(Look(Enter("modest")) != Place::kRefused);
  Leave(a);
  CheckRefused(Enter("greedy", 501), Refusal::kClientReplyBytes, "800 (--max-client-reply-mib)");
  CHECK(Look(Enter("greedy", 500)) != Place::kRefused);
}

TEST_CASE_METHOD(AdmissionTest, "the calls that there are at once are bounded", "[admission]") {
  limits_.max_calls = 5;
  limits_.max_client_calls = 5;
  for (int i = 0; i < 5; ++i) {
    CHECK(Look(Enter(absl::StrCat("c", i))) != Place::kRefused);
  }
  CheckRefused(Enter("another"), Refusal::kCalls, "the limit is 5 (--max-calls)");
}

TEST_CASE_METHOD(AdmissionTest, "rates of a client: requests and bytes", "[admission]") {
  limits_.max_client_request_rate = 10;
  limits_.max_client_byte_rate = 1000;
  limits_.max_running = 100;
  for (int i = 0; i < 10; ++i) {
    Call* const call = Enter("a", 1);
    CHECK(Look(call) == Place::kRunning);
    Leave(call);
  }
  Call* const eleventh = Enter("a", 1);
  CheckRefused(eleventh, Refusal::kClientRequestRate, "10 calls a second");
  CHECK(Look(Enter("b", 1)) == Place::kRunning);
  Advance(eleventh->retry_after() + milliseconds(1));
  CHECK(Look(Enter("a", 1)) == Place::kRunning);

  Call* const large = Enter("c", 700);
  Leave(large);
  Call* const larger = Enter("c", 700);  // into debt
  CHECK(Look(larger) != Place::kRefused);
  Leave(larger);
  Call* const late = Enter("c", 1);
  CheckRefused(late, Refusal::kClientByteRate, "1000 reply bytes a second");
  CHECK(late->retry_after() >= milliseconds(400));
  Advance(late->retry_after() + milliseconds(1));
  CHECK(Look(Enter("c", 1)) != Place::kRefused);
}

TEST_CASE_METHOD(AdmissionTest, "clients of many names do not have all looked at in every call",
                 "[admission]") {
  limits_.max_client_request_rate = 1;
  limits_.max_running = 100;
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < 60'000; ++i) Leave(Enter(absl::StrCat("c", i), 1));
  // 0.1 s; minutes where every call looks at all that came before.
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(10));
  CheckRefused(Enter("c5", 1), Refusal::kClientRequestRate, "1 calls a second");
  Advance(milliseconds(3000));
  CHECK(Look(Enter("c5", 1)) == Place::kRunning);
}

TEST_CASE_METHOD(AdmissionTest, "a call whose deadline has passed is dropped when its turn comes",
                 "[admission]") {
  Call* const a = Enter();
  Enter();
  Call* const expires = Enter("late", 10, now_ + milliseconds(20));
  Call* const next = Enter();
  Advance(milliseconds(20));
  Leave(a);
  CheckRefused(expires, Refusal::kExpired, "client late: it waited for 20 ms");
  VICINITY_CHECK_CODE(expires->refusal(), absl::StatusCode::kDeadlineExceeded);
  CHECK(Look(next) == Place::kRunning);
}

// Counts how often it is told that it has moved.
class ToldCall : public Admission::Call {
 public:
  using Call::Call;
  void OnMoved() override { ++told; }
  int told = 0;
};

TEST_CASE_METHOD(AdmissionTest, "a call that has waited is told once that it waits no more",
                 "[admission]") {
  limits_.max_running = 1;
  ToldCall at_once("a", 10, kNoDeadline);
  ToldCall runs("b", 10, kNoDeadline);
  ToldCall expires("c", 10, now_ + milliseconds(5));
  ToldCall gives_up("d", 10, kNoDeadline);
  CHECK(admission().Enter(&at_once, now_) == Place::kRunning);
  for (ToldCall* const call : {&runs, &expires, &gives_up}) {
    CHECK(admission().Enter(call, now_) == Place::kWaiting);
  }
  CHECK_FALSE(admission().Abandon(&at_once, now_));
  CHECK(admission().Abandon(&gives_up, now_));
  CHECK_FALSE(admission().Abandon(&gives_up, now_));
  Advance(milliseconds(10));
  Leave(&at_once);
  CHECK(admission().PlaceOf(runs) == Place::kRunning);
  Leave(&runs);
  CHECK(admission().PlaceOf(expires) == Place::kRefused);
  CHECK(at_once.told == 0);
  CHECK(runs.told == 1);
  CHECK(expires.told == 1);
  CHECK(gives_up.told == 0);
  CheckEmpty();
}

TEST_CASE_METHOD(AdmissionTest, "a burst waits, however long its queue", "[admission]") {
  Call* const a = Enter();
  Enter();
  std::vector<Call*> burst;
  for (int i = 0; i < 40; ++i) burst.push_back(Enter());
  Advance(milliseconds(49));
  Leave(a);
  CHECK(Look(burst[0]) == Place::kRunning);
  for (const Call* call : burst) CHECK(call->refusal().ok());
  CHECK_FALSE(admission().gauges().overloaded);
}

TEST_CASE_METHOD(AdmissionTest, "in an overload those that do not get their turn soon are refused",
                 "[admission]") {
  limits_.max_running = 1;
  Call* const runs = Enter();
  std::vector<Call*> waiting;
  // The queue never holds less than 50 ms for more than 100 ms.
  for (int i = 0; i < 32; ++i) {
    waiting.push_back(Enter());
    Advance(milliseconds(10));
  }
  CHECK(admission().gauges().overloaded);
  CheckRefused(waiting[0], Refusal::kQueueDelay,
               "behind others, the server is overloaded: the limit is then 10 ms");
  Advance(milliseconds(11));
  Call* const next = Enter();
  CHECK(Look(next) == Place::kWaiting);
  CheckRefused(Enter(), Refusal::kQueueDelay, "1 calls wait before it, the server is overloaded");
  Leave(runs);
  CHECK(Look(next) == Place::kRunning);
  Leave(next);
  // Once none had to be refused for a while, all is as before.
  Advance(milliseconds(100));
  Leave(Enter());
  Advance(milliseconds(100));
  Leave(Enter());
  CHECK_FALSE(admission().gauges().overloaded);
  CheckEmpty();
}

TEST_CASE_METHOD(AdmissionTest, "an overload is over when nobody calls any more", "[admission]") {
  limits_.max_running = 1;
  Call* const runs = Enter();
  for (int i = 0; i < 32; ++i) {
    Enter();
    Advance(milliseconds(10));
  }
  Advance(milliseconds(11));
  Call* const last = Enter();
  Leave(runs);
  CHECK(Look(last) == Place::kRunning);
  CHECK(admission().gauges().overloaded);
  Leave(last);
  admission().Advance(now_ + milliseconds(1000));  // refused clients come again sooner
  CHECK(admission().gauges().overloaded);
  admission().Advance(now_ + milliseconds(3000));
  CHECK_FALSE(admission().gauges().overloaded);
  CheckEmpty();
}

TEST_CASE_METHOD(AdmissionTest, "in an overload the modest go before the greedy", "[admission]") {
  limits_.max_running = 4;
  std::vector<Call*> greedy;
  for (int i = 0; i < 45; ++i) {
    greedy.push_back(Enter("greedy"));
    Advance(milliseconds(7));
  }
  CHECK(admission().gauges().overloaded);
  Call* const modest = Enter("modest");
  Call* const more = Enter("greedy");
  Advance(milliseconds(60));
  CHECK(Look(more) == Place::kRefused);
  CHECK(Look(modest) == Place::kWaiting);
  CheckRefused(Enter("greedy"), Refusal::kQueueDelay, "1 calls wait before it");
  Leave(greedy[0]);
  CHECK(Look(modest) == Place::kRunning);
  CHECK(Look(Enter("greedy")) == Place::kWaiting);
  // It does not wait for ever, either.
  Call* const late = Enter("late");
  Advance(milliseconds(101));
  CheckRefused(late, Refusal::kQueueDelay, "client late");
}

TEST_CASE_METHOD(AdmissionTest, "a call whose client does not read keeps no other waiting",
                 "[admission]") {
  Call* const slow = Enter("slow", 800);
  Call* const other = Enter("other", 100);
  Call* const waits = Enter("third", 600);
  CHECK(Look(waits) == Place::kWaiting);
  admission().Stall(slow, now_);
  admission().Stall(slow, now_);
  CHECK(Look(waits) == Place::kRunning);
  CHECK(admission().gauges().stalled == 1);
  CHECK(admission().gauges().reply_bytes == 700);
  // It goes on counting for its own client.
  CheckRefused(Enter("slow", 1), Refusal::kClientReplyBytes, "client slow");
  admission().Sent(slow, 300, now_);
  CHECK(admission().gauges().stalled == 0);
  CHECK(admission().gauges().reply_bytes == 1200);
  admission().Stall(slow, now_);
  Leave(slow);
  Leave(other);
  Leave(waits);
  CheckEmpty();
}

// Arrivals at `load` times what the server can do, each served in 10 ms by one of two.
struct Overload {
  int64_t answered = 0;
  int64_t refused = 0;
  int64_t refused_late = 0;  // after more than 11 ms, when the overload had been noticed
  milliseconds slowest{0};   // of those answered, to their turn
};

TEST_CASE_METHOD(
    AdmissionTest,
    "four times the load does not lower what is answered, and who is refused knows it soon",
    "[admission]") {
  struct Running {
    Call* call;
    Admission::Time end;
  };
  struct Waiting {
    Call* call;
    Admission::Time arrived;
  };
  const int load = GENERATE(1, 4, 10);
  const int num_clients = GENERATE(7, 97);  // more than the turns: none has more than its share
  std::vector<Running> running;
  std::vector<Waiting> waiting;
  Overload result;
  for (int tick = 0; tick < 5000; ++tick) {  // of a millisecond
    for (size_t i = 0; i < running.size();) {
      if (running[i].end > now_) {
        ++i;
        continue;
      }
      Leave(running[i].call);
      running.erase(running.begin() + static_cast<int64_t>(i));
      ++result.answered;
    }
    if (tick % 10 < 2 * load) {  // 10 slots of a millisecond, two of which are full load
      const int arrivals = 2 * load > 10 ? load / 5 : 1;
      for (int i = 0; i < arrivals; ++i) {
        waiting.push_back({Enter(absl::StrCat("c", tick % num_clients)), now_});
      }
    }
    for (size_t i = 0; i < waiting.size();) {
      const Place place = Look(waiting[i].call);
      if (place == Place::kWaiting) {
        ++i;
        continue;
      }
      if (place == Place::kRunning) {
        running.push_back({waiting[i].call, now_ + milliseconds(10)});
        result.slowest = std::max(
            result.slowest, std::chrono::duration_cast<milliseconds>(now_ - waiting[i].arrived));
      } else {
        ++result.refused;
        result.refused_late += tick > 300 && now_ - waiting[i].arrived > milliseconds(11);
      }
      waiting.erase(waiting.begin() + static_cast<int64_t>(i));
    }
    Advance(milliseconds(1));
  }
  CAPTURE(load, num_clients, result.answered, result.refused, result.slowest.count());
  CHECK(result.answered > 950);  // of 1000 that two can do
  // It takes 100 to 200 ms to notice an overload; then none waits.
  CHECK(result.slowest <= milliseconds(260));
  if (load > 1) {
    CHECK(result.refused > 1000);
    CHECK(result.refused_late <= result.refused / 100);
  }
}

TEST_CASE("whatever calls do, the counts come back to nothing", "[admission][threads]") {
  AdmissionLimits limits;
  limits.max_calls = 40;
  limits.max_client_calls = 10;
  limits.max_running = 4;
  limits.max_reply_bytes = 2000;
  limits.max_client_reply_bytes = 500;
  Admission admission(limits);
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      NodeDraws random(7, t);
      for (int i = 0; i < 400; ++i) {
        const auto now = [] { return std::chrono::steady_clock::now(); };
        Call call(absl::StrCat("c", random.Below(3)), random.Below(600),
                  now() + milliseconds(random.Below(5)));
        Place place = admission.Enter(&call, now());
        const uint64_t patience = random.Below(5);
        for (uint64_t look = 0; place == Place::kWaiting && look < patience; ++look) {
          std::this_thread::sleep_for(std::chrono::microseconds(200));
          admission.Advance(now());
          place = admission.PlaceOf(call);
        }
        if (place == Place::kWaiting && admission.Abandon(&call, now())) continue;
        place = admission.PlaceOf(call);
        if (place == Place::kRunning) {
          const int at_once = ++running;
          int seen = most.load();
          while (at_once > seen && !most.compare_exchange_weak(seen, at_once)) {
          }
          admission.Sent(&call, random.Below(300), now());
          --running;
          if (random.Below(2) == 0) admission.Stall(&call, now());
        }
        admission.Leave(&call, now());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const AdmissionGauges gauges = admission.gauges();
  CHECK(gauges.running == 0);
  CHECK(gauges.waiting == 0);
  CHECK(gauges.stalled == 0);
  CHECK(gauges.reply_bytes == 0);
  CHECK(gauges.clients == 0);
  CHECK(most.load() <= 4);
}

}  // namespace
}  // namespace vicinity
