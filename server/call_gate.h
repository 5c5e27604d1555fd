// Where calls for data wait for their turn, and where those are cut off whose clients do not read.
#pragma once

#include <spdlog/logger.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "proto/common/mutex.h"
#include "server/admission.h"
#include "server/admission_limits.h"
#include "server/chunk_sink.h"

namespace vicinity {

// Admission in real time: calls wait in their own threads, one thread more watches their writes.
//
// A write that blocks while others' do not has a client that does not read: its call gives up its
// turn, so that slow clients cost others nothing but the memory of a chunk. After write_timeout the
// call is cut off, or when there are too many like it. A slow link is something else: there all
// writes take long, each gets its share, and whoever is let in beside them takes from it.
//
// Threads:  any number may pass; each Passage belongs to one.
// Lifetime: outlives its passages. `log` outlives it and gets a line when an overload begins or
//           ends, and one for every call that is cut off.
class CallGate {
 public:
  CallGate(const AdmissionLimits& limits, spdlog::logger* log);
  ~CallGate();
  CallGate(const CallGate&) = delete;
  CallGate& operator=(const CallGate&) = delete;

  class Passage {
   public:
    struct Options {
      std::string client;
      int64_t reply_bytes = 0;
      std::chrono::system_clock::time_point deadline;
      // Called by any thread, once, while the passage lives; makes a blocked write return.
      std::function<void()> cut_off;
    };
    // Waits until the call may run. Looks every 20 ms whether somebody still wants the answer.
    Passage(CallGate* gate, Options options, IsGone is_gone);
    ~Passage();
    Passage(const Passage&) = delete;
    Passage& operator=(const Passage&) = delete;

    // OK: it may run. Else what Admission says, or GoneError().
    const absl::Status& status() const { return status_; }
    // Of a refused call: when to try again; zero: not said.
    std::chrono::milliseconds retry_after() const { return retry_after_; }

    // Runs `write`, which hands `bytes` of the reply to the client and says whether that went well.
    bool Write(int64_t bytes, absl::FunctionRef<bool()> write);

   private:
    friend class CallGate;
    void Wait(IsGone is_gone);

    CallGate* const gate_;
    const std::function<void()> cut_off_;
    Admission::Call call_;
    absl::Status status_;
    std::chrono::milliseconds retry_after_{0};
    std::list<Passage*>::iterator in_list_;         // if status_ is OK
    std::atomic<int64_t> sent_before_{0};           // by all calls, before the write
    std::atomic<Admission::Time> write_began_{{}};  // the epoch: no write is under way
    bool was_cut_off_ = false;                      // guarded by the gate's mutex
  };

  AdmissionGauges gauges() const { return admission_.gauges(); }
  const AdmissionLimits& limits() const { return admission_.limits(); }
  int64_t max_running() const { return admission_.max_running(); }
  int64_t cut_off() const { return cut_off_.load(std::memory_order_relaxed); }  // calls, so far

 private:
  void Watch();
  void CutOff(Passage* passage, Admission::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsStalled(const Passage& passage, Admission::Time began, Admission::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void LookAtWrites(Admission::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void TellOfOverload(Admission::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  Admission admission_;
  spdlog::logger* const log_;
  std::atomic<int64_t> cut_off_{0};
  std::atomic<int64_t> sent_{0};  // bytes, of all calls
  Mutex mu_;
  CondVar stopping_changed_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::list<Passage*> running_ ABSL_GUARDED_BY(mu_);
  int64_t last_sent_ ABSL_GUARDED_BY(mu_) = 0;
  Admission::Time last_progress_ ABSL_GUARDED_BY(mu_);  // when it last changed
  bool told_overloaded_ ABSL_GUARDED_BY(mu_) = false;
  Admission::Time last_overloaded_ ABSL_GUARDED_BY(mu_);
  std::thread watcher_;  // last: it uses all above
};

}  // namespace vicinity
