// Decides which calls are worked on, which wait, and which are refused, before anything is
// allocated for their replies.
//
// Knows no transport and reads no clock: times are handed in, so that tests need not wait.
#pragma once

#include <algorithm>
#include <array>
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

// Calls run in the order of their arrival while the queue moves. Where calls have been waiting too
// long for too long (AdmissionLimits), those of the clients with the fewest calls go first, and who
// does not get its turn soon is refused: those that are answered are answered in time, instead of
// all too late, those that are not know it at once, and it is the greedy who pay.
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
        : client_(std::move(client)), left_bytes_(reply_bytes), deadline_(deadline) {}
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

    const std::string client_;
    int64_t left_bytes_;
    const Time deadline_;
    // From here on the Admission's mutex guards everything, but what a refused call holds: it
    // changes no more.
    Place place_ = Place::kOutside;
    bool stalled_ = false;
    Client* its_ = nullptr;  // while it waits or runs
    Time arrived_;
    std::list<Call*>::iterator in_queue_;
    absl::Status refusal_;
    std::chrono::milliseconds retry_after_{0};
    bool refused_for_client_ = false;
  };

  explicit Admission(const AdmissionLimits& limits)
      : limits_(limits), max_running_(limits.EffectiveRunning()) {}

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

  // What the call counts as: among all, and of its client.
  int64_t Charge(const Call& call) const;
  int64_t ClientCharge(const Call& call) const;
  Client& FindClient(const std::string& name, Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ForgetIdleClients(Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool HasRates() const {
    return limits_.max_client_request_rate > 0 || limits_.max_client_byte_rate > 0;
  }
  std::string Flag(Refusal limit) const;  // " (--max-calls)" for texts, where there is one
  bool MayWait(Call* call, Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Queue(Call* call, Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool CheckCounts(Call* call, const Client& client) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool CheckBytes(Call* call, const Client& client) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool CheckRates(Call* call, Client* client, Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Refuse(Call* call, Refusal why, std::chrono::nanoseconds retry_after, absl::Status status)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RefuseWaiting(Call* call, Refusal why, Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool Fits(const Call& call) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Run(Call* call) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Resume(Call* call) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RemoveFromQueue(Call* call) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RemoveFromClient(Call* call) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool CheckProspects(Call* call, const Client& client) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  int64_t FewTurns() const { return std::max<int64_t>(max_running_ / 4, 1); }
  bool IsModest(const Call& call) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RefuseLate(Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Call* NextToRun() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Observe(std::chrono::nanoseconds delay, Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void LeaveLocked(Call* call, Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Move(Call* call, Place place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void AdvanceLocked(Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const AdmissionLimits limits_;
  const int64_t max_running_;
  mutable Mutex mu_;
  const Call* entering_ ABSL_GUARDED_BY(mu_) = nullptr;  // is told where it is by Enter itself
  std::list<Call*> queue_ ABSL_GUARDED_BY(mu_);          // in order of arrival
  int64_t queued_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t running_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t stalled_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t running_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  // Since the interval's begin; they decide at its end.
  bool refused_late_ ABSL_GUARDED_BY(mu_) = false;  // some call that had waited, or would have to
  std::chrono::nanoseconds least_delay_ ABSL_GUARDED_BY(mu_){0};
  int64_t turns_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t last_turns_ ABSL_GUARDED_BY(mu_) = 0;  // in the interval before
  Time interval_end_ ABSL_GUARDED_BY(mu_);
  bool overloaded_ ABSL_GUARDED_BY(mu_) = false;
  std::array<int64_t, kRefusalNames.size()> refused_ ABSL_GUARDED_BY(mu_){};
  std::unordered_map<std::string, Client> clients_ ABSL_GUARDED_BY(mu_);
  Time next_forget_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vicinity
