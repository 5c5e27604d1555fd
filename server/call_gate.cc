#include "server/call_gate.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace vicinity {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLookEvery(20);   // of those who wait
constexpr std::chrono::milliseconds kWatchEvery(20);  // of writes
// Of the usual chunk: for telling a client that does not read from a link that is slow.
constexpr int64_t kChunkBytes = int64_t{256} << 10;
// An overload is over when there was none for so long: it begins and ends once in the log.
constexpr std::chrono::seconds kQuiet(1);

Clock::time_point ToSteady(std::chrono::system_clock::time_point deadline) {
  const auto left = deadline - std::chrono::system_clock::now();
  // No deadline is the end of time, which must not overflow.
  return left > std::chrono::hours(24) ? Clock::time_point::max() : Clock::now() + left;
}

}  // namespace

CallGate::CallGate(const AdmissionLimits& limits, spdlog::logger* log)
    : admission_(limits), log_(log), watcher_([this] { Watch(); }) {}

CallGate::~CallGate() {
  {
    MutexLock lock(&mu_);
    stopping_ = true;
    stopping_changed_.NotifyAll();
  }
  watcher_.join();
}

void CallGate::Watch() {
  MutexLock lock(&mu_);
  while (!stopping_) {
    stopping_changed_.WaitFor(&mu_, kWatchEvery);
    const Admission::Time now = Clock::now();
    LookAtWrites(now);
    TellOfOverload(now);
  }
}

bool CallGate::IsStalled(const Passage& passage, Admission::Time began, Admission::Time now) {
  const auto blocked = now - began;
  if (blocked < limits().stall_time) return false;
  if (blocked >= 10 * limits().stall_time || now - last_progress_ >= limits().stall_time)
    return true;
  // Four chunks for each of the others, and none for this one.
  return sent_.load(std::memory_order_relaxed) -
             passage.sent_before_.load(std::memory_order_relaxed) >=
         4 * kChunkBytes * max_running();
}

void CallGate::LookAtWrites(Admission::Time now) {
  const int64_t sent = sent_.load(std::memory_order_relaxed);
  if (sent != last_sent_ || running_.empty()) last_progress_ = now;
  last_sent_ = sent;
  std::vector<std::pair<Admission::Time, Passage*>> blocked;
  for (Passage* passage : running_) {
    const Admission::Time began = passage->write_began_.load(std::memory_order_relaxed);
    if (began == Admission::Time() || !IsStalled(*passage, began, now)) continue;
    // Should the write end just now, the call counts as stalled until its next: harmless.
    admission_.Stall(&passage->call_, now);
    if (!passage->was_cut_off_) blocked.emplace_back(began, passage);
  }
  std::sort(blocked.begin(), blocked.end());
  const auto most = static_cast<size_t>((limits().max_calls + 1) / 2);
  const size_t too_many = blocked.size() > most ? blocked.size() - most : 0;
  for (size_t i = 0; i < blocked.size(); ++i) {
    const auto limit = i < too_many ? limits().write_timeout / 10 : limits().write_timeout;
    if (now - blocked[i].first >= limit) CutOff(blocked[i].second, now);
  }
}

void CallGate::CutOff(Passage* passage, Admission::Time now) {
  passage->was_cut_off_ = true;
  cut_off_.fetch_add(1, std::memory_order_relaxed);
  const auto blocked = now - passage->write_began_.load(std::memory_order_relaxed);
  log_->warn("cut off a call of client {}: it has read nothing for {} ms", passage->call_.client(),
             std::chrono::duration_cast<std::chrono::milliseconds>(blocked).count());
  passage->cut_off_();
}

void CallGate::TellOfOverload(Admission::Time now) {
  const AdmissionGauges gauges = admission_.gauges();
  if (gauges.overloaded) last_overloaded_ = now;
  const bool overloaded = now - last_overloaded_ < kQuiet && last_overloaded_ != Admission::Time();
  if (overloaded == told_overloaded_) return;
  told_overloaded_ = overloaded;
  if (overloaded) {
    log_->warn("overloaded: calls wait for more than {} ms; {} run, {} wait, of {} clients",
               limits().max_queue_delay.count(), gauges.running, gauges.waiting, gauges.clients);
  } else {
    log_->info("no longer overloaded; {} calls were refused since the start",
               gauges.refused[static_cast<size_t>(Refusal::kQueueDelay)]);
  }
}

CallGate::Passage::Passage(CallGate* gate, Options options, IsGone is_gone)
    : gate_(gate),
      cut_off_(std::move(options.cut_off)),
      call_(std::move(options.client), options.reply_bytes, ToSteady(options.deadline)) {
  Wait(is_gone);
  if (!status_.ok()) return;
  MutexLock lock(&gate_->mu_);
  in_list_ = gate_->running_.insert(gate_->running_.end(), this);
}

void CallGate::Passage::Wait(IsGone is_gone) {
  Admission* const admission = &gate_->admission_;
  Admission::Place place = admission->Enter(&call_, Clock::now());
  while (place == Admission::Place::kWaiting) {
    if (is_gone()) {
      admission->Leave(&call_, Clock::now());
      status_ = GoneError();
      return;
    }
    admission->WaitAWhile(&call_, kLookEvery);
    place = admission->Look(&call_, Clock::now());
  }
  if (place != Admission::Place::kRefused) return;
  status_ = call_.refusal();
  retry_after_ = call_.retry_after();
}

CallGate::Passage::~Passage() {
  if (!status_.ok()) return;
  {
    MutexLock lock(&gate_->mu_);
    gate_->running_.erase(in_list_);
  }
  gate_->admission_.Leave(&call_, Clock::now());
}

bool CallGate::Passage::Write(int64_t bytes, absl::FunctionRef<bool()> write) {
  sent_before_.store(gate_->sent_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  write_began_.store(Clock::now(), std::memory_order_relaxed);
  const bool written = write();
  write_began_.store(Admission::Time(), std::memory_order_relaxed);
  if (!written) return false;
  gate_->sent_.fetch_add(bytes, std::memory_order_relaxed);
  gate_->admission_.Sent(&call_, bytes, Clock::now());
  return true;
}

}  // namespace vicinity
