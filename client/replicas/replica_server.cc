#include "client/replicas/replica_server.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/shards/own_status.h"

namespace vicinity {
namespace {

constexpr int kMark = 10;  // in tenths

}  // namespace

ReplicaServer::ReplicaServer(std::string name, const Options& options, const ReplicaTools& tools,
                             Probe probe)
    : name_(std::move(name)),
      options_(options),
      tools_(tools),
      probe_(std::move(probe)),
      last_error_(absl::UnavailableError(absl::StrCat(name_, ": not connected yet"))) {}

ReplicaServer::~ReplicaServer() {
  {
    MutexLock lock(&mu_);
    closing_ = true;
    if (next_ == Next::kScheduled && tools_.timer->Cancel(timer_id_)) next_ = Next::kNothing;
  }
  cancel_.Cancel();
  MutexLock lock(&mu_);
  while (next_ != Next::kNothing) idle_.WaitFor(&mu_, std::chrono::seconds(1));
}

void ReplicaServer::Start() {
  MutexLock lock(&mu_);
  ScheduleProbe(tools_.timer->Now());
}

absl::Status ReplicaServer::last_error() const {
  MutexLock lock(&mu_);
  return OwnStatus(last_error_);
}

void ReplicaServer::OnSuccess() {
  if (unmarked_.load(std::memory_order_relaxed)) return;
  MutexLock lock(&mu_);
  if (!live_) return;  // an answer from before: whether it is back a probe tells
  if (marks_in_tenths_ > 0) --marks_in_tenths_;
  if (marks_in_tenths_ > 0) return;
  pauses_ = 0;
  unmarked_ = true;
}

void ReplicaServer::OnFailure(const absl::Status& why) {
  MutexLock lock(&mu_);
  if (!live_) return;
  last_error_ = OwnStatus(why);
  unmarked_ = false;
  marks_in_tenths_ += kMark;
  if (about_to_stop_ || marks_in_tenths_ >= options_.max_marks * kMark) Quarantine(why);
}

void ReplicaServer::Expel(const absl::Status& why) {
  MutexLock lock(&mu_);
  if (live_) Quarantine(why);
}

void ReplicaServer::OnReplaced(const absl::Status& why) {
  MutexLock lock(&mu_);
  if (live_) Quarantine(why);
  last_error_ = OwnStatus(why);
  replaced_.store(true, std::memory_order_release);
}

void ReplicaServer::OnStopping() {
  if (stopping()) return;
  MutexLock lock(&mu_);
  if (!live_ || about_to_stop_) return;
  about_to_stop_ = true;
  last_error_ = absl::UnavailableError(absl::StrCat(name_, ": the server is stopping"));
  Pause();
}

void ReplicaServer::Quarantine(const absl::Status& why) {
  live_.store(false, std::memory_order_release);
  tools_.traffic->quarantines.Add();
  last_error_ = OwnStatus(why);
  unmarked_ = false;
  Pause();
}

void ReplicaServer::Pause() {
  std::chrono::nanoseconds pause = options_.first_pause;
  for (int i = 0; i < pauses_ && pause < options_.longest_pause; ++i) pause *= 2;
  pause = std::min(pause, options_.longest_pause);
  ++pauses_;
  // Half of it by chance, so that probes of many clients do not come together.
  ScheduleProbe(tools_.timer->Now() + pause / 2 + tools_.jitter->UpTo(pause / 2));
}

void ReplicaServer::ScheduleProbe(Timer::Time when) {
  if (closing_ || next_ != Next::kNothing) return;
  next_ = Next::kScheduled;
  timer_id_ = tools_.timer->Schedule(when, [this] { RunProbe(); });
}

void ReplicaServer::ProbeSoon() {
  MutexLock lock(&mu_);
  const Timer::Time now = tools_.timer->Now();
  if (closing_ || next_ != Next::kScheduled || now < last_probe_ + options_.first_pause) return;
  if (!tools_.timer->Cancel(timer_id_)) return;  // it is about to run
  next_ = Next::kNothing;
  ScheduleProbe(now);
}

void ReplicaServer::RunProbe() {
  {
    MutexLock lock(&mu_);
    next_ = closing_ ? Next::kNothing : Next::kRunning;
    if (closing_) {
      idle_.NotifyAll();
      return;
    }
  }
  probe_(&cancel_, [this](const absl::Status& answer) { OnProbe(answer); });
}

void ReplicaServer::OnProbe(const absl::Status& answer) {
  MutexLock lock(&mu_);
  next_ = Next::kNothing;
  last_probe_ = tools_.timer->Now();
  if (closing_) {
    idle_.NotifyAll();  // under the lock: once it is released this object may go
    return;
  }
  if (answer.ok()) {
    about_to_stop_ = false;
    replaced_ = false;
    marks_in_tenths_ = pauses_ > 0 ? (options_.max_marks - 1) * kMark : 0;
    unmarked_ = pauses_ == 0;
    live_.store(true, std::memory_order_release);
    return;
  }
  // Of one that was replaced that stays the reason, also while it does not answer.
  if (!replaced()) last_error_ = OwnStatus(answer);
  Pause();
}

}  // namespace vicinity
