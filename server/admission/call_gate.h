// Where calls wait for their turn, and where those are cut off whose clients do not read.
#pragma once

#include <spdlog/logger.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "proto/common/mutex.h"
#include "proto/telemetry/registry.h"
#include "server/admission/admission.h"
#include "server/admission/admission_limits.h"
#include "server/admission/work_share.h"

namespace vicinity {

// Kinds of calls that are never in each other's way: each has limits and turns of its own.
// Changes that come from another server have their own, for a write may wait until others have
// them. Writes alone heed another lane: while calls for data wait, theirs is a share of the work.
enum class Lane : int { kData, kSmall, kHealth, kWrites, kReplicas };
inline constexpr size_t kNumLanes = 5;

// Admission in real time. No thread waits here: who has its turn is told so. One thread of the
// gate's own watches the time, and the calls that wait for their clients.
//
// A write that takes long while others' do not has a client that does not read: its call gives up
// its turn, so that slow clients cost others nothing but the memory of a chunk. After write_timeout
// the call is cut off, or when there are too many like it. A slow link is something else: there all
// writes take long, each gets its share, and whoever is let in beside them takes from it. A call
// whose request does not arrive is cut off after the write_timeout of calls for data, too.
//
// Threads:  any number may pass.
// Lifetime: outlives its passages. `log` outlives it and gets a line when an overload begins or
//           ends, and one for every call that is cut off.
class CallGate {
 public:
  // `write_share`: of the work, while calls for data wait (server/admission/work_share.h).
  CallGate(const AdmissionLimits& limits_of_data, spdlog::logger* log, double write_share = 1);
  // Calls that may run at once in all lanes: so many threads are never waited for.
  // Writes are refused at once where nothing `is_written`, and need none of their own.
  static int64_t MaxRunningInAll(const AdmissionLimits& limits_of_data, bool is_written = false);
  ~CallGate();
  CallGate(const CallGate&) = delete;
  CallGate& operator=(const CallGate&) = delete;

  // One call's way through the gate:
  //
  //   request awaited --Enter--> waits --(its turn)--> runs <--WriteBegins/WriteEnds--> writes
  //          ^                     |                     |
  //          +---------------------(---------------------+--Leave
  //                                +--(refused)--> over, status() tells
  //
  // Threads: one at a time, but for Abandon.
  class Passage {
   public:
    struct Wish {
      Lane lane = Lane::kData;
      std::string client;  // whom it counts for
      int64_t reply_bytes = 0;
      std::chrono::system_clock::time_point deadline;
    };

    // `go_on`: called once if the call has to wait, when it waits no more; place() tells why. It
    // must not come back to the gate, but may have another thread do so.
    // `cut_off`: called once at most; makes what is waited for end.
    Passage(CallGate* gate, std::function<void()> go_on, std::function<void()> cut_off);
    ~Passage();  // leaves, wherever it is
    Passage(const Passage&) = delete;
    Passage& operator=(const Passage&) = delete;

    // The request has arrived: nobody is waited for.
    void RequestIsThere() { waits_since_.store(Admission::Time(), std::memory_order_relaxed); }
    Admission::Place Enter(Wish wish);
    // Back to the beginning, for the next request of a conversation.
    void Leave();
    Admission::Place place() const;
    // True: it waited for its turn, waits no more, and go_on is not called.
    bool Abandon();

    // Of a refused call: what Admission says, and when to try again; zero: not said.
    const absl::Status& status() const { return call_->refusal(); }
    std::chrono::milliseconds retry_after() const { return call_->retry_after(); }
    // It was refused for what its client has or asks already.
    bool refused_for_client() const { return call_->refused_for_client(); }

    // Around everything that the client has to take before the call goes on.
    void WriteBegins();
    void WriteEnds(int64_t bytes);

   private:
    friend class CallGate;

    class Call final : public Admission::Call {
     public:
      Call(Passage* passage, Wish wish);
      void OnMoved() override { passage_->go_on_(); }

     private:
      Passage* const passage_;
    };

    Admission& admission() const { return *gate_->lanes_[static_cast<size_t>(lane_)]; }

    CallGate* const gate_;
    const std::function<void()> go_on_;
    const std::function<void()> cut_off_;
    Lane lane_ = Lane::kData;
    std::optional<Call> call_;              // once it has entered
    std::atomic<bool> has_entered_{false};  // call_ may be read by any thread
    std::atomic<int64_t> sent_before_{0};   // by all calls, before the write
    // When it began to wait for its client, to read or to send; the epoch: it does not.
    std::atomic<Admission::Time> waits_since_{{}};
    bool was_cut_off_ = false;  // the watching thread's alone
    std::list<Passage*>::iterator in_list_;
  };

  AdmissionGauges gauges(Lane lane = Lane::kData) const { return admission(lane).gauges(); }
  const AdmissionLimits& limits(Lane lane = Lane::kData) const { return admission(lane).limits(); }
  int64_t max_running(Lane lane = Lane::kData) const { return admission(lane).max_running(); }
  // By lane: calls that run, wait and are stalled, bytes of replies, refusals by reason. The gate
  // must outlive the group.
  void AddMetrics(MetricRegistry::Group* group) const;
  const WorkShare& work_share() const { return work_share_; }
  int64_t cut_off() const { return cut_off_.load(std::memory_order_relaxed); }  // calls, so far

 private:
  using Lanes = std::array<std::unique_ptr<Admission>, kNumLanes>;

  static Lanes MakeLanes(const AdmissionLimits& limits_of_data, WorkShare* share);
  const Admission& admission(Lane lane) const { return *lanes_[static_cast<size_t>(lane)]; }
  const AdmissionLimits& LimitsOf(const Passage& passage) const;
  void Watch();
  void CutOff(Passage* passage, Admission::Time since, Admission::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsStalled(const Passage& passage, Admission::Time since, Admission::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void LookAtWaits(Admission::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void TellOfOverload(Admission::Time now);

  WorkShare work_share_;
  Lanes lanes_;
  spdlog::logger* const log_;
  std::atomic<int64_t> cut_off_{0};
  std::atomic<int64_t> sent_{0};  // bytes, of all calls
  Mutex mu_;
  CondVar stopping_changed_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::list<Passage*> passages_ ABSL_GUARDED_BY(mu_);
  int64_t last_sent_ ABSL_GUARDED_BY(mu_) = 0;
  Admission::Time last_progress_ ABSL_GUARDED_BY(mu_);  // when it last changed
  // The watching thread's alone.
  bool told_overloaded_ = false;
  Admission::Time last_overloaded_;
  std::thread watcher_;  // last: it uses all above
};

}  // namespace vicinity
