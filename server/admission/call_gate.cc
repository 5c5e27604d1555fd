#include "server/admission/call_gate.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace vicinity {
namespace {

using Clock = std::chrono::steady_clock;
using Place = Admission::Place;

// Between looks at those who wait: what is refused for waiting too long knows it so soon. While
// there is nobody, one looks now and then.
constexpr std::chrono::milliseconds kWatchEvery(5);
constexpr std::chrono::milliseconds kIdleWatchEvery(50);
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

CallGate::CallGate(const AdmissionLimits& limits_of_data, spdlog::logger* log, double write_share)
    : work_share_(write_share),
      lanes_(MakeLanes(limits_of_data, &work_share_)),
      log_(log),
      watcher_([this] { Watch(); }) {}

CallGate::Lanes CallGate::MakeLanes(const AdmissionLimits& limits_of_data, WorkShare* share) {
  auto data = std::make_unique<Admission>(limits_of_data);
  auto writes = std::make_unique<Admission>(AdmissionLimits::OfWrites(), share, data.get());
  return {std::move(data), std::make_unique<Admission>(AdmissionLimits::OfSmallCalls()),
          std::make_unique<Admission>(AdmissionLimits::OfHealthChecks()), std::move(writes),
          std::make_unique<Admission>(AdmissionLimits::OfReplicas())};
}

CallGate::~CallGate() {
  {
    MutexLock lock(&mu_);
    stopping_ = true;
    stopping_changed_.NotifyAll();
  }
  watcher_.join();
}

int64_t CallGate::MaxRunningInAll(const AdmissionLimits& limits_of_data, bool is_written) {
  return limits_of_data.EffectiveRunning() + AdmissionLimits::OfSmallCalls().EffectiveRunning() +
         AdmissionLimits::OfHealthChecks().EffectiveRunning() +
         (is_written ? AdmissionLimits::OfWrites().EffectiveRunning() +
                           AdmissionLimits::OfReplicas().EffectiveRunning()
                     : 0);
}

void CallGate::Watch() {
  for (;;) {
    const Admission::Time now = Clock::now();
    for (const auto& lane : lanes_) lane->Advance(now);
    TellOfOverload(now);
    MutexLock lock(&mu_);
    if (stopping_) return;
    LookAtWaits(now);
    stopping_changed_.WaitFor(&mu_, passages_.empty() ? kIdleWatchEvery : kWatchEvery);
  }
}

const AdmissionLimits& CallGate::LimitsOf(const Passage& passage) const {
  return passage.has_entered_.load(std::memory_order_acquire) ? limits(passage.lane_) : limits();
}

bool CallGate::IsStalled(const Passage& passage, Admission::Time since, Admission::Time now) {
  const auto blocked = now - since;
  const AdmissionLimits& limits = LimitsOf(passage);
  if (blocked < limits.stall_time) return false;
  if (blocked >= 10 * limits.stall_time || now - last_progress_ >= limits.stall_time) return true;
  // Four chunks for each of the others, and none for this one.
  return sent_.load(std::memory_order_relaxed) -
             passage.sent_before_.load(std::memory_order_relaxed) >=
         4 * kChunkBytes * max_running();
}

void CallGate::LookAtWaits(Admission::Time now) {
  const int64_t sent = sent_.load(std::memory_order_relaxed);
  if (sent != last_sent_ || passages_.empty()) last_progress_ = now;
  last_sent_ = sent;
  std::vector<std::pair<Admission::Time, Passage*>> blocked;
  for (Passage* passage : passages_) {
    const Admission::Time since = passage->waits_since_.load(std::memory_order_relaxed);
    if (since == Admission::Time() || !IsStalled(*passage, since, now)) continue;
    if (passage->has_entered_.load(std::memory_order_acquire)) {
      // Should the write end just now, the call counts as stalled until its next: harmless.
      passage->admission().Stall(&*passage->call_, now);
    }
    if (!passage->was_cut_off_) blocked.emplace_back(since, passage);
  }
  std::sort(blocked.begin(), blocked.end());
  const auto most = static_cast<size_t>((limits().max_calls + 1) / 2);
  const size_t too_many = blocked.size() > most ? blocked.size() - most : 0;
  for (size_t i = 0; i < blocked.size(); ++i) {
    const auto timeout = LimitsOf(*blocked[i].second).write_timeout;
    if (now - blocked[i].first >= (i < too_many ? timeout / 10 : timeout)) {
      CutOff(blocked[i].second, blocked[i].first, now);
    }
  }
}

void CallGate::CutOff(Passage* passage, Admission::Time since, Admission::Time now) {
  passage->was_cut_off_ = true;
  cut_off_.fetch_add(1, std::memory_order_relaxed);
  const auto blocked = std::chrono::duration_cast<std::chrono::milliseconds>(now - since).count();
  if (passage->has_entered_.load(std::memory_order_acquire)) {
    log_->warn("cut off a call of client {}: it has read nothing for {} ms",
               passage->call_->client(), blocked);
  } else {
    log_->warn("cut off a call: its request has not arrived within {} ms", blocked);
  }
  passage->cut_off_();
}

void CallGate::TellOfOverload(Admission::Time now) {
  const AdmissionGauges gauges = this->gauges();
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

CallGate::Passage::Call::Call(Passage* passage, Wish wish)
    : Admission::Call(std::move(wish.client), wish.reply_bytes, ToSteady(wish.deadline)),
      passage_(passage) {}

CallGate::Passage::Passage(CallGate* gate, std::function<void()> go_on,
                           std::function<void()> cut_off)
    : gate_(gate), go_on_(std::move(go_on)), cut_off_(std::move(cut_off)) {
  waits_since_.store(Clock::now(), std::memory_order_relaxed);  // for its request
  MutexLock lock(&gate_->mu_);
  in_list_ = gate_->passages_.insert(gate_->passages_.end(), this);
}

CallGate::Passage::~Passage() {
  {
    MutexLock lock(&gate_->mu_);
    gate_->passages_.erase(in_list_);
  }
  if (call_.has_value()) admission().Leave(&*call_, Clock::now());
}

Place CallGate::Passage::Enter(Wish wish) {
  RequestIsThere();
  lane_ = wish.lane;
  call_.emplace(this, std::move(wish));
  has_entered_.store(true, std::memory_order_release);
  return admission().Enter(&*call_, Clock::now());
}

void CallGate::Passage::Leave() {
  {
    // The watcher looks at calls under it.
    MutexLock lock(&gate_->mu_);
    has_entered_.store(false, std::memory_order_release);
  }
  admission().Leave(&*call_, Clock::now());
  call_.reset();
  waits_since_.store(Clock::now(), std::memory_order_relaxed);
}

Place CallGate::Passage::place() const {
  return call_.has_value() ? admission().PlaceOf(*call_) : Place::kOutside;
}

bool CallGate::Passage::Abandon() {
  return has_entered_.load(std::memory_order_acquire) && admission().Abandon(&*call_, Clock::now());
}

void CallGate::Passage::WriteBegins() {
  sent_before_.store(gate_->sent_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  waits_since_.store(Clock::now(), std::memory_order_relaxed);
}

void CallGate::Passage::WriteEnds(int64_t bytes) {
  waits_since_.store(Admission::Time(), std::memory_order_relaxed);
  gate_->sent_.fetch_add(bytes, std::memory_order_relaxed);
  if (call_.has_value()) admission().Sent(&*call_, bytes, Clock::now());
}

void CallGate::AddMetrics(MetricRegistry::Group* group) const {
  static constexpr const char* kLanes[kNumLanes] = {"data", "small", "health", "writes",
                                                    "replicas"};
  for (size_t lane = 0; lane < kNumLanes; ++lane) {
    const Admission* const admission = lanes_[lane].get();
    const auto add = [&](const char* name, const char* help, const char* state,
                         int64_t AdmissionGauges::*value) {
      MetricLabels labels = {{"lane", kLanes[lane]}};
      if (state != nullptr) labels.emplace_back("state", state);
      group->Add({name, help, MetricKind::kGauge}, labels,
                 [admission, value] { return static_cast<double>(admission->gauges().*value); });
    };
    constexpr char kCalls[] = "vicinity_server_admitted_calls";
    constexpr char kCallsHelp[] = "Calls that run, wait for their turn, or for their client";
    add(kCalls, kCallsHelp, "running", &AdmissionGauges::running);
    add(kCalls, kCallsHelp, "waiting", &AdmissionGauges::waiting);
    add(kCalls, kCallsHelp, "stalled", &AdmissionGauges::stalled);
    add("vicinity_server_reply_bytes", "Bytes of replies still to be sent", nullptr,
        &AdmissionGauges::reply_bytes);
    group->Add({"vicinity_server_max_calls", "Calls that there may be at once", MetricKind::kGauge},
               {{"lane", kLanes[lane]}},
               [admission] { return static_cast<double>(admission->limits().max_calls); });
    group->Add({"vicinity_server_overloaded", "1 while calls are refused for others' waiting",
                MetricKind::kGauge},
               {{"lane", kLanes[lane]}},
               [admission] { return admission->gauges().overloaded ? 1.0 : 0.0; });
    for (size_t reason = 0; reason < kRefusalNames.size(); ++reason) {
      group->Add(
          {"vicinity_server_refused_calls_total", "Calls refused, by the limit that was met"},
          {{"lane", kLanes[lane]}, {"limit", kRefusalNames[reason]}},
          [admission, reason] { return static_cast<double>(admission->gauges().refused[reason]); });
    }
  }
  group->Add({"vicinity_server_write_share",
              "Of the work, that writes may be while calls for data wait", MetricKind::kGauge},
             {}, [this] { return work_share_.share(); });
  const auto add_use = [&](const char* lane, double WorkShare::Use::*seconds) {
    group->Add({"vicinity_server_contended_seconds_total",
                "Time that calls ran while calls for data waited"},
               {{"lane", lane}}, [this, seconds] { return work_share_.use().*seconds; });
  };
  add_use("data", &WorkShare::Use::reads_seconds);
  add_use("writes", &WorkShare::Use::writes_seconds);
  group->Add({"vicinity_server_cut_off_calls_total", "Calls cut off whose clients do not read"}, {},
             [this] { return static_cast<double>(cut_off()); });
}

}  // namespace vicinity
