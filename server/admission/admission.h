// Decides which calls are worked on, which wait, and which are refused, before anything is
// allocated for their replies.
//
// Knows no transport and reads no clock: times are handed in, so that tests need not wait.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <list>
#include <string>
#include <unordered_map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "proto/common/mutex.h"
#include "server/admission/admission_limits.h"
#include "server/admission/token_bucket.h"
#include "server/admission/work_share.h"

namespace vicinity {

// Why calls are refused; AdmissionLimits says what each means.
enum class Refusal : int {
  kCalls,
  kClientCalls,
  kReplyBytes,
  kClientReplyBytes,
  kClientRequestRate,
  kClientByteRate,
  kQueueDelay,
  kExpired,  // its deadline had passed when its turn came
};
inline constexpr std::array<const char*, 8> kRefusalNames = {
    "max-calls",           "max-client-calls", "max-reply-mib", "max-client-reply-mib",
    "client-request-rate", "client-mib-rate",  "queue-delay",   "deadline"};

struct AdmissionGauges {
  int64_t running = 0;
  int64_t waiting = 0;
  int64_t stalled = 0;      // let in, but their clients do not read
  int64_t reply_bytes = 0;  // still to be sent, of those running
  int64_t clients = 0;      // that have calls
  bool overloaded = false;
  std::array<int64_t, kRefusalNames.size()> refused{};  // since the start
};

// Who runs next, who waits and who is refused.
//
//                                   Stall
//                       its turn   +------> stalled
//   outside --Enter--> waiting --> running <---Sent
//      |                  |
//      | Enter            | it waited for too long, or its deadline has passed
//      +--a limit is met--+----> refused
//
//   waiting, running, stalled --Leave--> outside          waiting --Abandon--> outside
//
// A stalled call runs, but its client does not read: it keeps no other call from running.
//
// While the queue moves, calls run in the order of their arrival. A queue that is long for a moment
// is a burst, and harmless. A queue that is not short for a moment in all of overload_time is an
// overload (AdmissionLimits): more is asked than can be done. Then calls of the clients that have
// the fewest calls run first, and calls that do not get their turn soon are refused. So those that
// are answered are answered in time, instead of all too late; those that are not learn it at once;
// and it is the greedy who pay.
//
// This is what "Controlling queue delay" (Nichols, Jacobson 2012) does for packets, but that calls
// are told that they are refused.
//
//   I1  queue_ has exactly the calls that are waiting, in the order of their arrival.
//   I2  A call that waits or runs is counted once, for its client and for all: as waiting, as
//       running or as stalled. A call that is outside or refused is counted nowhere.
//   I3  After every method that frees something, or brings a call, AdvanceLocked() has looked at
//       the queue.
//
// Threads: all methods from any number at once; each call from one at a time, but for Stall.
class Admission {
  struct Client;

 public:
  using Time = std::chrono::steady_clock::time_point;

  enum class Place { kOutside, kWaiting, kRunning, kRefused };

  // One call's place. Between Enter and Leave it lies still.
  class Call {
   public:
    // `client`: whom it counts for. `reply_bytes`: as many as the reply can have.
    Call(std::string client, int64_t reply_bytes, Time deadline)
        : client_(std::move(client)), deadline_(deadline) {
      state_.left_bytes = reply_bytes;
    }
    virtual ~Call() = default;
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    // Called once if it has waited: it runs or is refused from now on, PlaceOf tells. Comes from
    // within any of Admission's methods and must call none; it may have another thread go on.
    virtual void OnMoved() {}

    // Of a refused call. ResourceExhausted naming the limit and its value, or DeadlineExceeded;
    // and when it is worth another try.
    const absl::Status& refusal() const { return refusal_; }
    std::chrono::milliseconds retry_after() const { return retry_after_; }
    // It was for what its client has or asks already, not for what all have together.
    bool refused_for_client() const { return refused_for_client_; }
    const std::string& client() const { return client_; }

   private:
    friend class Admission;

    struct State {
      Place place = Place::kOutside;
      bool stalled = false;
      // Bytes of the reply that are not sent yet.
      int64_t left_bytes = 0;
      // The call's client, while it waits or runs.
      Client* client_entry = nullptr;
      Time arrived;
      std::list<Call*>::iterator in_queue;
    };

    const std::string client_;
    const Time deadline_;
    // Only for StateOf, since the mutex of the Admission guards it.
    State state_;
    // Written when the call is refused, and never after, so that whoever knows of it may read.
    absl::Status refusal_;
    std::chrono::milliseconds retry_after_{0};
    bool refused_for_client_ = false;
  };

  explicit Admission(const AdmissionLimits& limits) : Admission(limits, nullptr, nullptr) {}
  // Of writes, which take turns as `share` allows beside the reads of another. Both outlive this.
  Admission(const AdmissionLimits& limits, WorkShare* share, const Admission* reads)
      : limits_(limits), max_running_(limits.EffectiveRunning()), share_(share), reads_(reads) {}

  const AdmissionLimits& limits() const { return limits_; }
  int64_t max_running() const { return max_running_; }

  // Where the call is now: running, waiting or refused. What runs or waits has to Leave.
  Place Enter(Call* call, Time now);
  // Lets go on whoever may and refuses whoever must be; to be called now and then.
  void Advance(Time now);
  Place PlaceOf(const Call& call) const;
  // Leaves if the call waits still: true, and it is not told of anything any more.
  bool Abandon(Call* call, Time now);
  // A running call's client does not read: until something is Sent, the call keeps no other from
  // running. It counts on for its client.
  void Stall(Call* call, Time now);
  // So many bytes of a running call's reply are on their way.
  void Sent(Call* call, int64_t bytes, Time now);
  void Leave(Call* call, Time now);

  AdmissionGauges gauges() const;

 private:
  struct Client {
    Client(const AdmissionLimits& limits, Time now)
        : requests(limits.max_client_request_rate, now), bytes(limits.max_client_byte_rate, now) {}
    int64_t calls = 0;
    int64_t reply_bytes = 0;
    TokenBucket requests;
    TokenBucket bytes;
  };

  // The only ways to a call's state: clang sees that the mutex is held.
  Call::State& StateOf(Call* call) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return call->state_; }
  const Call::State& StateOf(const Call& call) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return call.state_;
  }

  // The algorithm: lets run whoever may, and refuses whoever must be.
  void AdvanceLocked(Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void GiveTurns(Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // For who shares the work with these calls.
  void TellLoad() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void LookAtShare(Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Notes how long the oldest call has waited, and decides at the end of each interval whether the
  // server is overloaded.
  void Observe(std::chrono::nanoseconds delay, Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RefuseLate(Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Call* NextToRun() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsModest(const Call& call) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool Fits(const Call& call) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Run(Call* call) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // So many calls get their turn soon, whatever else happens.
  int64_t FewTurns() const { return std::max<int64_t>(max_running_ / 4, 1); }

  // What a new call must pass. Each of them refuses it, or says true and changes nothing, but that
  // CheckRates takes what the call asks for.
  bool MayWait(Call* call, Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool CheckCounts(Call* call, const Client& client) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool CheckBytes(Call* call, const Client& client) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool CheckProspects(Call* call, const Client& client) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool CheckRates(Call* call, Client* client, Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  void Queue(Call* call, Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Resume(Call* call) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void LeaveLocked(Call* call, Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RemoveFromQueue(Call* call) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RemoveFromClient(Call* call) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RefuseWaiting(Call* call, Refusal why, Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Refuse(Call* call, Refusal why, std::chrono::nanoseconds retry_after, absl::Status status)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Move(Call* call, Place place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Bytes that the call counts as: among all, and of its client.
  int64_t Charge(const Call& call) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  int64_t ClientCharge(const Call& call) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Client& FindClient(const std::string& name, Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ForgetIdleClients(Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool HasRates() const {
    return limits_.max_client_request_rate > 0 || limits_.max_client_byte_rate > 0;
  }
  std::string Flag(Refusal limit) const;  // " (--max-calls)" for texts, where there is one

  const AdmissionLimits limits_;
  const int64_t max_running_;
  WorkShare* const share_;        // null: turns are given without regard to others
  const Admission* const reads_;  // whose; likewise
  // As of running_ and queue_, for another one, which must not wait for the mutex.
  std::atomic<int64_t> told_running_{0};
  std::atomic<int64_t> told_waiting_{0};
  mutable Mutex mu_;
  // The call in Enter, which is told where it is by what Enter returns.
  const Call* entering_ ABSL_GUARDED_BY(mu_) = nullptr;

  std::list<Call*> queue_ ABSL_GUARDED_BY(mu_);
  int64_t queued_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t running_ ABSL_GUARDED_BY(mu_) = 0;  // without the stalled
  int64_t running_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t stalled_ ABSL_GUARDED_BY(mu_) = 0;
  std::unordered_map<std::string, Client> clients_ ABSL_GUARDED_BY(mu_);
  Time next_forget_ ABSL_GUARDED_BY(mu_);

  bool overloaded_ ABSL_GUARDED_BY(mu_) = false;
  // The interval after which that is decided anew, and what has been seen in it: the least time
  // that the oldest call has waited, how many calls got their turn, and whether a call was refused
  // that had waited for too long or would have had to.
  Time interval_end_ ABSL_GUARDED_BY(mu_);
  std::chrono::nanoseconds least_delay_ ABSL_GUARDED_BY(mu_){0};
  int64_t turns_ ABSL_GUARDED_BY(mu_) = 0;
  bool refused_late_ ABSL_GUARDED_BY(mu_) = false;
  // How many calls got their turn in the interval before.
  int64_t last_turns_ ABSL_GUARDED_BY(mu_) = 0;

  std::array<int64_t, kRefusalNames.size()> refused_ ABSL_GUARDED_BY(mu_){};
};

}  // namespace vicinity
