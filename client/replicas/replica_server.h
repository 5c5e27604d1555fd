// One server as one of several that may be asked: how busy it is, whether it is to be asked at all,
// and how it comes back when it is not.
//
// A server is live or quarantined. It begins quarantined, and only a probe, which asks it who it
// is, makes it live: so the first connection and every later return are the same thing.
//
// A failure is a mark against it that ten successes wipe off; three marks quarantine it, be they in
// a row or one in ten calls, which is more than the budget of retries makes good. Probes then come
// at pauses that double up to a limit. Who is back has two marks left: the next failure is one too
// many, and the pauses are short again when the marks are gone.
//
// A server that says that it is about to stop stays live, for a shard that has no other, but
// whoever has a choice asks another; until a probe finds its successor.
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
    int most_marks = 3;
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
  bool stopping() const { return stops_.load(std::memory_order_relaxed); }  // if it is live
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
  // It says that it is about to stop. May come with every answer. The next failure quarantines it.
  void OnStopping();

  // It asked to be left alone until then. The latest word counts.
  void HoldUntil(Timer::Time when) { held_until_.store(when.count(), std::memory_order_relaxed); }
  Timer::Time held_until() const { return Timer::Time(held_until_.load()); }

  // A call waits for it: a probe now, unless one runs or has run in the last first_pause.
  void Hurry();

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
  std::atomic<bool> stops_{false};
  std::atomic<int64_t> bytes_{0};
  std::atomic<int64_t> held_until_{0};
  std::atomic<bool> spotless_{
      true};  // neither failures_ nor pauses_: most successes change nothing
  Cancellation cancel_;

  enum class Next { kNothing, kScheduled, kRunning };  // of the probe

  mutable Mutex mu_;
  CondVar idle_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  Next next_ ABSL_GUARDED_BY(mu_) = Next::kNothing;
  int64_t timer_id_ ABSL_GUARDED_BY(mu_) = -1;  // of the scheduled probe
  Timer::Time last_probe_ ABSL_GUARDED_BY(mu_){};
  int tenths_ ABSL_GUARDED_BY(mu_) = 0;  // of marks
  int pauses_ ABSL_GUARDED_BY(mu_) = 0;  // since there was no mark
  absl::Status last_error_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vicinity
