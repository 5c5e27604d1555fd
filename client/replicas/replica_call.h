// One call to a shard that has replicas: the attempts it takes, until one answers or the call's
// budget is spent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/replicas/hedge_policy.h"
#include "client/replicas/replica_question.h"
#include "client/replicas/replica_set.h"
#include "client/replicas/retry_budget.h"
#include "client/replicas/retry_policy.h"
#include "client/replicas/timer.h"
#include "client/shards/call_context.h"
#include "client/shards/cancellation.h"
#include "client/shards/fan_out.h"
#include "proto/common/mutex.h"
#include "proto/telemetry/trace/tracer.h"
#include "proto/telemetry/trace_context.h"

namespace vicinity {

// What the calls of a client share. All of it must outlive them.
struct CallTools {
  ReplicaTools replicas;
  RetryPolicy policy;
  RetryBudget* budget = nullptr;
  HedgePolicy* hedging = nullptr;
  Tracer* tracer = nullptr;  // for calls of sampled traces; null: they leave nothing
};

// Asks until it has an answer, or an error that no replica can mend, or no more attempts or time.
// Then it calls `done`, once. By then every attempt is over, the slower one of two as well: none
// touches what the question points to.
//
//   new --Begin--> asking --hedge time, token--> asking twice
//                   |  ^ ^                            |
//            failed |  | +-------- one failed --------+
//                   v  | not_before_ is over, a replica, a token
//                  waiting    (Begin leads here where no replica is live)
//
//   asking, asking twice --answer, fatal error, Cancel--> ending --none runs--> finished
//   waiting --no more attempts or time, Cancel--> finished
//
//   new            not begun_
//   asking         one attempt is in running_
//   asking twice   two are: the hedge asks another replica the same, into buffers of its own
//   waiting        none is; the timer wakes the call, which looks again for what it lacks
//   ending         winner_, fatal_ or cancelled_ is set; an attempt that was cancelled is awaited
//   finished       finished_
//
// An attempt that fails is repeated after a wait with jitter, on another replica if there is one,
// and for a token of the budget, unless the server only said that another is to be asked. An
// attempt that takes too long is cancelled, which makes it fail. A call is hedged once at most, and
// never one for the shard's writer.
//
//   I1  An attempt stands in running_ from its start until its end is told, so there is never more
//       than one of a role.
//   I2  While an attempt runs, the call does not finish and begins no other first attempt.
//   I3  No question is asked and nothing is cancelled under the mutex, since both may call back.
//
// Errors:   those of the call itself (FailureKind::kCall) as they come. Cancelled soon after
//           Cancel(). Else the code that all replicas failed with, Unavailable where they
//           differ; the text names the shard and each of its servers with its last error.
// Threads:  `done` comes from any thread.
// Lifetime: it keeps itself alive until `done` has returned.
class ReplicaCall : public std::enable_shared_from_this<ReplicaCall> {
 public:
  // `set` and the context's cancellation must live until `done`.
  static void Start(const CallTools& tools, ReplicaSet* set, ReplicaQuestion question,
                    const CallContext& context, Done done);

  ReplicaCall(const CallTools& tools, ReplicaSet* set, ReplicaQuestion question,
              const CallContext& context, Done done);

 private:
  enum Role { kFirst = 0, kHedge = 1 };
  static Role OtherThan(Role role) { return role == kFirst ? kHedge : kFirst; }

  // What does not change while the attempt runs.
  struct Attempt {
    Role role;
    int replica;
    Timer::Time started;
    Timer::Time expires;
    ReplicaQuestion::Apart apart;  // of a hedge
    Cancellation cancel;
    TraceContext trace;  // what it says of itself: the call's, or a part of it that is recorded
    size_t span = 0;     // its number in spans_
  };
  using AttemptPtr = std::shared_ptr<Attempt>;

  // An attempt that runs, and why it was cancelled if it was.
  struct Running {
    AttemptPtr attempt;    // null: none runs
    bool expired = false;  // it took too long
    bool lost = false;     // the other attempt ended the call, or the caller did
  };

  void Begin();
  // The next step of a call none of whose attempts is running: an attempt, a wait, or the end.
  void Proceed();
  void OnTimer();
  void OnCancel();
  void OnEnd(const AttemptPtr& attempt, absl::Status status);
  void Run(const AttemptPtr& attempt);
  void Finish(absl::Status status);

  bool IsRunning() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool HasOutcome() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool MayHedge(Timer::Time now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void WakeAt(Timer::Time when) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void WakeForAttempts() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The attempts that have run out of time since the last look; they are to be cancelled.
  std::vector<AttemptPtr> Expire(Timer::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // What the call ends with, if it ends now.
  std::optional<absl::Status> Outcome(Timer::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The attempt that can be made now; null after a wait for what it lacks was begun.
  AttemptPtr NextAttempt(Timer::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  AttemptPtr MakeAttempt(Role role, int replica, Timer::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  AttemptPtr TryHedge(Timer::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // What the end of an attempt says about its server, its copy of the shard, and the call.
  void Learn(const Running& ended, const absl::Status& status, Timer::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void LearnFromLoss(const Attempt& attempt, Timer::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void LearnFromFailure(const Attempt& attempt, const absl::Status& status, Timer::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void BeginSpan(Attempt* attempt) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EndSpan(const Running& ended, const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status AllFailed(Timer::Time now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::string Where(int replica) const;  // "shard 2 at 127.0.0.1:7502 (server c): FetchRows"

  const CallTools tools_;
  ReplicaSet* const set_;
  const ReplicaQuestion question_;
  const CallContext context_;
  const int64_t size_;  // in units of kMaxCallBytes, rounded up
  const Timer::Time started_;
  const Timer::Time deadline_;
  const int max_attempts_;

  Mutex mu_;
  Done done_ ABSL_GUARDED_BY(mu_);
  bool begun_ ABSL_GUARDED_BY(mu_) = false;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
  bool cancelled_ ABSL_GUARDED_BY(mu_) = false;
  int64_t cancel_id_ ABSL_GUARDED_BY(mu_) = -1;
  int64_t timer_id_ ABSL_GUARDED_BY(mu_) = -1;

  // Attempts made so far, hedges not counted.
  int attempts_ ABSL_GUARDED_BY(mu_) = 0;
  // A hedge has been made.
  bool hedged_ ABSL_GUARDED_BY(mu_) = false;
  // The last one failed where another server may do, which is nobody's fault: the next is free.
  bool goes_elsewhere_ ABSL_GUARDED_BY(mu_) = false;
  // A replica could be asked again, but the budget has no token for it.
  bool waiting_for_retry_token_ ABSL_GUARDED_BY(mu_) = false;
  // No attempt begins before.
  Timer::Time not_before_ ABSL_GUARDED_BY(mu_){};
  // When the first attempt is hedged; none: it is not, or its end has come.
  std::optional<Timer::Time> hedge_at_ ABSL_GUARDED_BY(mu_);
  std::array<Running, 2> running_ ABSL_GUARDED_BY(mu_);  // by role

  // Of a sampled trace: the call and its attempts. Null: of none.
  std::unique_ptr<SpanTree> spans_ ABSL_GUARDED_BY(mu_);

  AttemptPtr winner_ ABSL_GUARDED_BY(mu_);
  // An error that no attempt can mend.
  absl::Status fatal_ ABSL_GUARDED_BY(mu_);
  // By replica: whether this call has failed there, and with what it did last.
  std::vector<char> tried_ ABSL_GUARDED_BY(mu_);
  std::vector<absl::Status> errors_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vicinity
