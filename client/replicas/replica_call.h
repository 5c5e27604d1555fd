// One call to a shard that has replicas: the attempts it takes, until one answers or the call's
// budget is spent.
#pragma once

#include <array>
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
#include "client/shards/cancellation.h"
#include "client/shards/fan_out.h"
#include "proto/common/mutex.h"

namespace vicinity {

// What the calls of a client share. All of it must outlive them.
struct CallTools {
  ReplicaTools replicas;
  RetryPolicy policy;
  RetryBudget* budget = nullptr;
  HedgePolicy* hedging = nullptr;
};

// Asks until it has an answer, an error that no replica can mend, or no more attempts or time; then
// `done`, once. By then every attempt is over, the slower of two also: none touches what the
// question points to.
//
// An attempt that fails is repeated after a wait with jitter, elsewhere if there is an elsewhere,
// and for a token of the budget. Where no replica is live, or the budget is empty, the call waits.
//
// Errors:   of the call (FailureKind::kCall) as they come; Cancelled soon after cancel->Cancel().
//           Else the code that all replicas failed with, Unavailable where they differ, naming the
//           shard and each of its servers with its last error.
// Threads:  `done` comes from any thread.
class ReplicaCall : public std::enable_shared_from_this<ReplicaCall> {
 public:
  // `set` and `cancel`, which may be null, must live until `done`.
  static void Start(const CallTools& tools, ReplicaSet* set, ReplicaQuestion question,
                    Cancellation* cancel, Done done);

  ReplicaCall(const CallTools& tools, ReplicaSet* set, ReplicaQuestion question,
              Cancellation* cancel, Done done);

 private:
  enum Role { kFirst = 0, kHedge = 1 };
  struct Attempt {
    Role role;
    int replica;
    Timer::Time started;
    Timer::Time expires;
    ReplicaQuestion::Apart apart;  // of a hedge
    Cancellation cancel;
    bool running = true;   // these three under the call's mutex
    bool expired = false;  // cancelled since it took too long
    bool lost = false;     // cancelled since another ended the call
  };
  using AttemptPtr = std::shared_ptr<Attempt>;

  void Begin();
  // The next step of a call none of whose attempts is running: an attempt, a wait, or the end.
  void Proceed();
  void OnTimer();
  void OnCancel();
  void OnEnd(const AttemptPtr& attempt, absl::Status status);
  void Run(const AttemptPtr& attempt);
  void Finish(absl::Status status);

  bool Running() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void WakeAt(Timer::Time when) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void WakeForAttempts() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The end of a call that has one now, else nothing.
  std::optional<absl::Status> Outcome(Timer::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The attempt that can be made now; null after a wait for what it lacks was begun.
  AttemptPtr NextAttempt(Timer::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  AttemptPtr MakeAttempt(Role role, int replica, Timer::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  AttemptPtr TryHedge(Timer::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Judge(Attempt* attempt, const absl::Status& status, Timer::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void JudgeFailure(const Attempt& attempt, const absl::Status& status, Timer::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status AllFailed(Timer::Time now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::string Where(int replica) const;  // "shard 2 at 127.0.0.1:7502 (server c): FetchRows"

  const CallTools tools_;
  ReplicaSet* const set_;
  const ReplicaQuestion question_;
  Cancellation* const cancel_;
  const int64_t size_;  // in units of kMaxCallBytes, rounded up
  const Timer::Time started_;
  const Timer::Time deadline_;
  const int most_attempts_;

  Mutex mu_;
  Done done_ ABSL_GUARDED_BY(mu_);
  bool begun_ ABSL_GUARDED_BY(mu_) = false;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
  bool cancelled_ ABSL_GUARDED_BY(mu_) = false;
  int64_t cancel_id_ ABSL_GUARDED_BY(mu_) = -1;
  int64_t timer_id_ ABSL_GUARDED_BY(mu_) = -1;
  int attempts_ ABSL_GUARDED_BY(mu_) = 0;  // made, hedges not counted
  bool hedged_ ABSL_GUARDED_BY(mu_) = false;
  bool starved_ ABSL_GUARDED_BY(mu_) = false;  // waits for a token of the budget
  Timer::Time not_before_ ABSL_GUARDED_BY(mu_){};
  std::optional<Timer::Time> hedge_at_ ABSL_GUARDED_BY(mu_);
  std::array<AttemptPtr, 2> running_ ABSL_GUARDED_BY(mu_);  // by role; null: none
  AttemptPtr winner_ ABSL_GUARDED_BY(mu_);
  absl::Status fatal_ ABSL_GUARDED_BY(mu_);  // no attempt can mend it
  std::vector<char> tried_ ABSL_GUARDED_BY(mu_);
  std::vector<absl::Status> errors_ ABSL_GUARDED_BY(mu_);  // each replica's last in this call
};

}  // namespace vicinity
