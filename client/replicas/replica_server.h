// One server as one of several that may be asked: how busy it is, whether it is to be asked at all,
// and how it comes back when it is not.
//
//                  probe succeeds             OnStopping
//   quarantined -----------------------> live -----------> live, about to stop
//      ^  ^  |                           |  ^                 |            |
//      |  +--+ probe fails:              |  +--probe succeeds-+            |
//      |       pause, then a probe       |                                 |
//      +------third mark, or Expel-------+                                 |
//      +------next failure-------------------------------------------------+
//
// It begins quarantined. Only a probe, which asks the server who it is, makes it live, so the first
// connection and every later return are the same thing.
//
// A failure is a mark against the server, and ten successes wipe a mark off. Three marks quarantine
// it. They may come in a row, or from more than one failure in ten calls, which is more than the
// budget of retries makes good.
//
// Probes of a quarantined server come at pauses that double up to a limit. A server that is back
// has two marks, so its next failure is one too many. Pauses are short again once its marks are
// gone.
//
// A server of another dataset, which has taken the place of the one that is read, is quarantined as
// any other, but nobody waits for it.
//
// A server that says that it is about to stop stays live, for shards that no other has. Whoever has
// a choice asks another, until a probe finds the server's successor.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "client/replicas/jitter.h"
#include "client/replicas/timer.h"
#include "client/shards/cancellation.h"
#include "client/shards/fan_out.h"
#include "client/shards/traffic.h"
#include "proto/common/mutex.h"

namespace vicinity {

// What the replicas of all shards share. All of it must outlive them.
struct ReplicaTools {
  Timer* timer = nullptr;
  Jitter* jitter = nullptr;
  TrafficCounters* traffic = nullptr;
};

// Threads:  any number.
// Lifetime: the destructor ends the probe that runs and waits for it; calls must be over before.
class ReplicaServer {
 public:
  struct Options {
    int max_marks = 3;
    std::chrono::nanoseconds first_pause = std::chrono::milliseconds(100);
    std::chrono::nanoseconds longest_pause = std::chrono::seconds(10);
  };
  // Asks the server whether it can be used. Must end, in bounded time or soon after the
  // cancellation.
  using Probe = std::function<void(Cancellation*, Done)>;

  // `name` is for people: "127.0.0.1:7502 (server c)".
  ReplicaServer(std::string name, const Options& options, const ReplicaTools& tools, Probe probe);
  ~ReplicaServer();
  ReplicaServer(const ReplicaServer&) = delete;
  ReplicaServer& operator=(const ReplicaServer&) = delete;

  // Begins with the first probe. Once.
  void Start();

  const std::string& name() const { return name_; }
  bool live() const { return live_.load(std::memory_order_acquire); }
  bool stopping() const { return about_to_stop_.load(std::memory_order_relaxed); }  // if it is live
  // Why it is quarantined, or what failed last; OK: nothing did.
  absl::Status last_error() const;

  int64_t bytes_in_flight() const { return bytes_.load(std::memory_order_relaxed); }
  void Begin(int64_t bytes) { bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  void End(int64_t bytes) { bytes_.fetch_sub(bytes, std::memory_order_relaxed); }

  // What became of an attempt. Failures count while it is live.
  void OnSuccess();
  void OnFailure(const absl::Status& why);
  // Quarantines it at once.
  void Expel(const absl::Status& why);
  // Another dataset has taken the place of what it served, which it does not serve any more: `why`.
  // Until a probe succeeds.
  void OnReplaced(const absl::Status& why);
  bool replaced() const { return replaced_.load(std::memory_order_acquire); }
  // It says that it is about to stop. May come with every answer. The next failure quarantines it.
  void OnStopping();

  // It asked to be left alone until then. The latest word counts.
  void HoldUntil(Timer::Time when) { held_until_.store(when.count(), std::memory_order_relaxed); }
  Timer::Time held_until() const { return Timer::Time(held_until_.load()); }

  // A call waits for it: probes it now, unless a probe runs or has run in the last first_pause.
  void ProbeSoon();

 private:
  void Quarantine(const absl::Status& why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Pause() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);  // then a probe
  void ScheduleProbe(Timer::Time when) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RunProbe();
  void OnProbe(const absl::Status& answer);

  const std::string name_;
  const Options options_;
  const ReplicaTools tools_;
  const Probe probe_;
  std::atomic<bool> live_{false};
  std::atomic<bool> about_to_stop_{false};
  std::atomic<bool> replaced_{false};
  std::atomic<int64_t> bytes_{0};
  std::atomic<int64_t> held_until_{0};
  // There are no marks and no pauses, so a success changes nothing: most need no lock.
  std::atomic<bool> unmarked_{true};
  Cancellation cancel_;

  enum class Next { kNothing, kScheduled, kRunning };  // of the probe

  mutable Mutex mu_;
  CondVar idle_;
  bool closing_ ABSL_GUARDED_BY(mu_) = false;
  Next next_ ABSL_GUARDED_BY(mu_) = Next::kNothing;
  // Of the scheduled probe.
  int64_t timer_id_ ABSL_GUARDED_BY(mu_) = -1;
  Timer::Time last_probe_ ABSL_GUARDED_BY(mu_){};
  int marks_in_tenths_ ABSL_GUARDED_BY(mu_) = 0;
  // Since there was no mark.
  int pauses_ ABSL_GUARDED_BY(mu_) = 0;
  absl::Status last_error_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vicinity
