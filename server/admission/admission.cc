#include "server/admission/admission.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace vicinity {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// A client that is full has only to wait for one of its own calls.
constexpr milliseconds kClientRetry(20);
// A server that is full needs a little longer.
constexpr milliseconds kServerRetry(100);
// Beyond so many, clients without calls are forgotten, now and then: each time all are looked at.
constexpr size_t kMaxIdleClients = 4096;
constexpr std::chrono::seconds kBetweenForgetting(1);
// Clients that are refused come again sooner than this: without a call that waits for so long, an
// overload is over.
constexpr std::chrono::seconds kUnasked(2);

bool IsOfClient(Refusal why) {
  return why == Refusal::kClientCalls || why == Refusal::kClientReplyBytes ||
         why == Refusal::kClientRequestRate || why == Refusal::kClientByteRate;
}

milliseconds RoundUp(nanoseconds time) {
  return std::chrono::duration_cast<milliseconds>(time + milliseconds(1) - nanoseconds(1));
}

absl::Status Exhausted(const Admission::Call& call, absl::string_view what,
                       milliseconds retry_after) {
  return absl::ResourceExhaustedError(absl::StrCat("client ", call.client(), ": ", what,
                                                   "; try again in ", retry_after.count(), " ms"));
}

}  // namespace

// Keeps I3.
void Admission::AdvanceLocked(Time now) {
  if (share_ != nullptr) LookAtShare(now);
  if (overloaded_ && queue_.empty() && now - interval_end_ > kUnasked) {
    overloaded_ = false;
    least_delay_ = nanoseconds(0);
    refused_late_ = false;
  }
  GiveTurns(now);
  TellLoad();
}

void Admission::TellLoad() {
  told_running_.store(running_, std::memory_order_relaxed);
  told_waiting_.store(static_cast<int64_t>(queue_.size()), std::memory_order_relaxed);
}

void Admission::LookAtShare(Time now) {
  WorkShare::Load load;
  load.reads_running = reads_->told_running_.load(std::memory_order_relaxed);
  load.reads_waiting = reads_->told_waiting_.load(std::memory_order_relaxed);
  load.writes_running = running_;
  share_->Look(load, now);
}

// The oldest call is looked at first, in an overload or not: what it has waited is what the queue
// costs now.
void Admission::GiveTurns(Time now) {
  while (!queue_.empty()) {
    Observe(now - StateOf(*queue_.front()).arrived, now);
    if (overloaded_) RefuseLate(now);
    if (queue_.empty() || running_ >= max_running_) return;
    Call* const next = NextToRun();
    if (next->deadline_ <= now) {
      RefuseWaiting(next, Refusal::kExpired, now);
      continue;
    }
    if (!Fits(*next) || (share_ != nullptr && !share_->MayRun(now))) return;
    Run(next);
    if (share_ != nullptr) LookAtShare(now);
  }
}

// A long queue alone is no overload: it is one if even the shortest wait of an interval was too
// long. It lasts until an interval in which no wait was too long and nobody had to be refused for
// it.
void Admission::Observe(nanoseconds delay, Time now) {
  if (now < interval_end_) {
    least_delay_ = std::min(least_delay_, delay);
    return;
  }
  overloaded_ = least_delay_ > limits_.max_queue_delay || (overloaded_ && refused_late_);
  least_delay_ = delay;
  refused_late_ = false;
  last_turns_ = turns_;
  turns_ = 0;
  interval_end_ = now + limits_.overload_time;
}

// In an overload, refuses calls that have waited for too long. Of the modest clients' calls it
// spares as many as get their turn soon. If it spared more, the calls of many equal clients would
// all wait for long, and be refused only then.
void Admission::RefuseLate(Time now) {
  int64_t to_spare = FewTurns();
  for (auto it = queue_.begin(); it != queue_.end();) {
    Call* const call = *it++;
    const nanoseconds waited = now - StateOf(call).arrived;
    if (waited <= limits_.max_overload_delay) return;  // as all that came later
    if (to_spare > 0 && waited <= 2 * limits_.max_queue_delay && IsModest(*call)) {
      --to_spare;
      continue;
    }
    refused_late_ = true;
    RefuseWaiting(call, Refusal::kQueueDelay, now);
  }
}

// A client with no more than its share of the turns need not pay for what the others ask.
bool Admission::IsModest(const Call& call) const {
  const auto share = max_running_ / static_cast<int64_t>(std::max<size_t>(clients_.size(), 1));
  return StateOf(call).client_entry->calls <= std::max<int64_t>(share, 1);
}

// The oldest call; in an overload, the oldest of those whose clients have the fewest calls.
Admission::Call* Admission::NextToRun() const {
  if (!overloaded_) return queue_.front();
  Call* next = nullptr;
  int64_t fewest = 0;
  for (Call* const call : queue_) {
    if (next != nullptr && StateOf(call).client_entry->calls >= fewest) continue;
    next = call;
    fewest = StateOf(call).client_entry->calls;
  }
  return next;
}

bool Admission::Fits(const Call& call) const {
  if (running_ >= max_running_) return false;
  return running_bytes_ == 0 || running_bytes_ + Charge(call) <= limits_.max_reply_bytes;
}

void Admission::Run(Call* call) {
  RemoveFromQueue(call);
  ++running_;
  ++turns_;
  running_bytes_ += Charge(*call);
  Move(call, Place::kRunning);
}

Admission::Place Admission::Enter(Call* call, Time now) {
  MutexLock lock(&mu_);
  if (overloaded_) AdvanceLocked(now);
  entering_ = call;
  if (MayWait(call, now)) Queue(call, now);
  entering_ = nullptr;
  return StateOf(call).place;
}

bool Admission::MayWait(Call* call, Time now) {
  Client& client = FindClient(call->client_, now);
  const bool may_wait = CheckCounts(call, client) && CheckBytes(call, client) &&
                        CheckProspects(call, client) && CheckRates(call, &client, now);
  // A call that is refused leaves nothing behind.
  if (!may_wait && client.calls == 0 && !HasRates()) clients_.erase(call->client_);
  return may_wait;
}

bool Admission::CheckCounts(Call* call, const Client& client) {
  if (client.calls >= limits_.max_client_calls) {
    Refuse(call, Refusal::kClientCalls, kClientRetry,
           Exhausted(*call,
                     absl::StrCat("it has ", client.calls, " ", limits_.calls,
                                  " in flight, the limit is ", limits_.max_client_calls,
                                  Flag(Refusal::kClientCalls)),
                     kClientRetry));
    return false;
  }
  const int64_t calls = running_ + stalled_ + static_cast<int64_t>(queue_.size());
  if (calls >= limits_.max_calls) {
    Refuse(call, Refusal::kCalls, kServerRetry,
           Exhausted(*call,
                     absl::StrCat("the server has ", calls, " ", limits_.calls, ", the limit is ",
                                  limits_.max_calls, Flag(Refusal::kCalls)),
                     kServerRetry));
    return false;
  }
  return true;
}

bool Admission::CheckBytes(Call* call, const Client& client) {
  const int64_t of_client = ClientCharge(*call);
  if (client.reply_bytes > 0 && client.reply_bytes + of_client > limits_.max_client_reply_bytes) {
    Refuse(call, Refusal::kClientReplyBytes, kClientRetry,
           Exhausted(*call,
                     absl::StrCat("replies of ", client.reply_bytes, " bytes are on their way, ",
                                  of_client, " more exceed the limit of ",
                                  limits_.max_client_reply_bytes, " (--max-client-reply-mib)"),
                     kClientRetry));
    return false;
  }
  const int64_t bytes = Charge(*call);
  if (queued_bytes_ > 0 && queued_bytes_ + bytes > limits_.max_reply_bytes) {
    Refuse(call, Refusal::kReplyBytes, kServerRetry,
           Exhausted(*call,
                     absl::StrCat("replies of ", queued_bytes_, " bytes wait for their turn, ",
                                  bytes, " more exceed the limit of ", limits_.max_reply_bytes,
                                  " (--max-reply-mib)"),
                     kServerRetry));
    return false;
  }
  return true;
}

// In an overload, a call that would have to wait for too long is refused at once, before it costs a
// thread and the server's attention. It would if more calls are before it than get their turn in
// the time that it may wait.
bool Admission::CheckProspects(Call* call, const Client& client) {
  if (!overloaded_) return true;
  const int64_t soon = std::max<int64_t>(
      FewTurns(), last_turns_ * limits_.max_overload_delay / limits_.overload_time);
  int64_t ahead = 0;
  for (const Call* const other : queue_) {
    ahead += StateOf(*other).client_entry->calls <= client.calls + 1 ? 1 : 0;
  }
  if (ahead < soon) return true;
  refused_late_ = true;
  Refuse(call, Refusal::kQueueDelay, kServerRetry,
         Exhausted(*call,
                   absl::StrCat(ahead, " calls wait before it, the server is overloaded: the limit",
                                " for waiting is then ", limits_.max_overload_delay.count(), " ms"),
                   kServerRetry));
  return false;
}

bool Admission::CheckRates(Call* call, Client* client, Time now) {
  const nanoseconds requests = client->requests.WaitTime(now);
  const nanoseconds bytes = client->bytes.WaitTime(now);
  if (requests == nanoseconds(0) && bytes == nanoseconds(0)) {
    client->requests.Take(1);
    client->bytes.Take(static_cast<double>(ClientCharge(*call)));
    return true;
  }
  const bool by_bytes = bytes > requests;
  const nanoseconds wait = std::max(requests, bytes);
  const std::string limit =
      by_bytes ? absl::StrCat(limits_.max_client_byte_rate, " reply bytes a second",
                              Flag(Refusal::kClientByteRate))
               : absl::StrCat(limits_.max_client_request_rate, " ", limits_.calls, " a second",
                              Flag(Refusal::kClientRequestRate));
  Refuse(call, by_bytes ? Refusal::kClientByteRate : Refusal::kClientRequestRate, wait,
         Exhausted(*call, absl::StrCat("it is limited to ", limit), RoundUp(wait)));
  return false;
}

void Admission::Queue(Call* call, Time now) {
  Client& client = FindClient(call->client_, now);
  StateOf(call).client_entry = &client;
  ++client.calls;
  client.reply_bytes += ClientCharge(*call);
  if (queue_.empty()) Observe(nanoseconds(0), now);
  StateOf(call).arrived = now;
  StateOf(call).place = Place::kWaiting;
  queued_bytes_ += Charge(*call);
  StateOf(call).in_queue = queue_.insert(queue_.end(), call);
  AdvanceLocked(now);
}

void Admission::Advance(Time now) {
  MutexLock lock(&mu_);
  AdvanceLocked(now);
}

Admission::Place Admission::PlaceOf(const Call& call) const {
  MutexLock lock(&mu_);
  return StateOf(call).place;
}

bool Admission::Abandon(Call* call, Time now) {
  MutexLock lock(&mu_);
  if (StateOf(call).place != Place::kWaiting) return false;
  LeaveLocked(call, now);
  return true;
}

void Admission::Leave(Call* call, Time now) {
  MutexLock lock(&mu_);
  LeaveLocked(call, now);
}

void Admission::LeaveLocked(Call* call, Time now) {
  switch (StateOf(call).place) {
    case Place::kWaiting:
      RemoveFromQueue(call);
      break;
    case Place::kRunning:
      if (StateOf(call).stalled) {
        --stalled_;
      } else {
        --running_;
        running_bytes_ -= Charge(*call);
      }
      break;
    case Place::kOutside:
    case Place::kRefused:
      return;
  }
  StateOf(call).place = Place::kOutside;
  RemoveFromClient(call);
  if (queue_.empty()) Observe(nanoseconds(0), now);
  AdvanceLocked(now);
}

void Admission::Stall(Call* call, Time now) {
  MutexLock lock(&mu_);
  if (StateOf(call).place != Place::kRunning || StateOf(call).stalled) return;
  StateOf(call).stalled = true;
  ++stalled_;
  --running_;
  running_bytes_ -= Charge(*call);
  AdvanceLocked(now);
}

void Admission::Resume(Call* call) {
  if (!StateOf(call).stalled) return;
  StateOf(call).stalled = false;
  --stalled_;
  ++running_;
  running_bytes_ += Charge(*call);
}

void Admission::Sent(Call* call, int64_t bytes, Time now) {
  MutexLock lock(&mu_);
  if (StateOf(call).place != Place::kRunning) return;
  Resume(call);
  const int64_t before = Charge(*call);
  const int64_t of_client_before = ClientCharge(*call);
  StateOf(call).left_bytes = std::max<int64_t>(StateOf(call).left_bytes - bytes, 0);
  StateOf(call).client_entry->reply_bytes -= of_client_before - ClientCharge(*call);
  const int64_t freed = before - Charge(*call);
  if (freed == 0) return TellLoad();
  running_bytes_ -= freed;
  AdvanceLocked(now);
}

void Admission::RemoveFromQueue(Call* call) {
  queue_.erase(StateOf(call).in_queue);
  queued_bytes_ -= Charge(*call);
}

void Admission::RemoveFromClient(Call* call) {
  Client& client = *StateOf(call).client_entry;
  StateOf(call).client_entry = nullptr;
  --client.calls;
  client.reply_bytes -= ClientCharge(*call);
  if (client.calls == 0 && !HasRates()) clients_.erase(call->client_);
}

void Admission::RefuseWaiting(Call* call, Refusal why, Time now) {
  const nanoseconds waited = now - StateOf(call).arrived;
  RemoveFromQueue(call);
  RemoveFromClient(call);
  const milliseconds retry_after = std::max(kServerRetry, RoundUp(waited));
  const std::string text =
      absl::StrCat("it waited for ", RoundUp(waited).count(), " ms behind others");
  if (why == Refusal::kExpired) {
    Refuse(call, why, retry_after,
           absl::DeadlineExceededError(absl::StrCat("client ", call->client_, ": ", text)));
    return;
  }
  Refuse(call, why, retry_after,
         Exhausted(*call,
                   absl::StrCat(text, ", the server is overloaded: the limit is then ",
                                limits_.max_overload_delay.count(), " ms"),
                   retry_after));
}

void Admission::Refuse(Call* call, Refusal why, nanoseconds retry_after, absl::Status status) {
  ++refused_[static_cast<size_t>(why)];
  call->retry_after_ = RoundUp(retry_after);
  call->refusal_ = std::move(status);
  call->refused_for_client_ = IsOfClient(why);
  Move(call, Place::kRefused);
}

void Admission::Move(Call* call, Place place) {
  StateOf(call).place = place;
  if (call != entering_) call->OnMoved();
}

int64_t Admission::Charge(const Call& call) const {
  return std::min(StateOf(call).left_bytes, std::max<int64_t>(limits_.max_reply_bytes / 16, 1));
}

int64_t Admission::ClientCharge(const Call& call) const {
  return std::min(StateOf(call).left_bytes, limits_.max_client_reply_bytes);
}

Admission::Client& Admission::FindClient(const std::string& name, Time now) {
  if (clients_.size() > kMaxIdleClients && now >= next_forget_) {
    ForgetIdleClients(now);
    next_forget_ = now + kBetweenForgetting;
  }
  return clients_.try_emplace(name, limits_, now).first->second;
}

void Admission::ForgetIdleClients(Time now) {
  for (auto it = clients_.begin(); it != clients_.end();) {
    Client& client = it->second;
    const bool idle = client.calls == 0 && client.requests.IsFull(now) && client.bytes.IsFull(now);
    it = idle ? clients_.erase(it) : std::next(it);
  }
}

std::string Admission::Flag(Refusal limit) const {
  if (!limits_.has_flags) return "";
  return absl::StrCat(" (--", kRefusalNames[static_cast<size_t>(limit)], ")");
}

AdmissionGauges Admission::gauges() const {
  MutexLock lock(&mu_);
  AdmissionGauges gauges;
  gauges.running = running_;
  gauges.waiting = static_cast<int64_t>(queue_.size());
  gauges.stalled = stalled_;
  gauges.reply_bytes = running_bytes_;
  gauges.clients =
      static_cast<int64_t>(std::count_if(clients_.begin(), clients_.end(), [](const auto& client) {
        return client.second.calls > 0;
      }));
  gauges.overloaded = overloaded_;
  gauges.refused = refused_;
  return gauges;
}

}  // namespace vicinity
