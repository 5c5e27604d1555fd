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

int64_t Admission::Charge(const Call& call) const {
  return std::min(call.left_bytes_, std::max<int64_t>(limits_.max_reply_bytes / 16, 1));
}

int64_t Admission::ClientCharge(const Call& call) const {
  return std::min(call.left_bytes_, limits_.max_client_reply_bytes);
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

void Admission::Refuse(Call* call, Refusal why, nanoseconds retry_after, absl::Status status) {
  ++refused_[static_cast<size_t>(why)];
  call->retry_after_ = RoundUp(retry_after);
  call->refusal_ = std::move(status);
  call->refused_for_client_ = IsOfClient(why);
  Move(call, Place::kRefused);
}

void Admission::Move(Call* call, Place place) {
  call->place_ = place;
  if (call != entering_) call->OnMoved();
}

std::string Admission::Flag(Refusal limit) const {
  if (!limits_.has_flags) return "";
  return absl::StrCat(" (--", kRefusalNames[static_cast<size_t>(limit)], ")");
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

// In an overload whoever would have to wait too long is told so at once, before it costs a thread
// and the server's attention: those before it are more than get a turn within that time.
bool Admission::CheckProspects(Call* call, const Client& client) {
  if (!overloaded_) return true;
  const int64_t soon = std::max<int64_t>(
      FewTurns(), last_turns_ * limits_.max_overload_delay / limits_.overload_time);
  int64_t ahead = 0;
  for (const Call* const other : queue_) ahead += other->its_->calls <= client.calls + 1 ? 1 : 0;
  if (ahead < soon) return true;
  refused_late_ = true;
  Refuse(call, Refusal::kQueueDelay, kServerRetry,
         Exhausted(*call,
                   absl::StrCat(ahead, " calls wait before it, the server is overloaded: the limit",
                                " for waiting is then ", limits_.max_overload_delay.count(), " ms"),
                   kServerRetry));
  return false;
}

Admission::Place Admission::Enter(Call* call, Time now) {
  MutexLock lock(&mu_);
  if (overloaded_) AdvanceLocked(now);
  entering_ = call;
  if (MayWait(call, now)) Queue(call, now);
  entering_ = nullptr;
  return call->place_;
}

bool Admission::MayWait(Call* call, Time now) {
  Client& client = FindClient(call->client_, now);
  const bool may_wait = CheckCounts(call, client) && CheckBytes(call, client) &&
                        CheckProspects(call, client) && CheckRates(call, &client, now);
  // One that is refused leaves nothing behind.
  if (!may_wait && client.calls == 0 && !HasRates()) clients_.erase(call->client_);
  return may_wait;
}

void Admission::Queue(Call* call, Time now) {
  Client& client = FindClient(call->client_, now);
  call->its_ = &client;
  ++client.calls;
  client.reply_bytes += ClientCharge(*call);
  if (queue_.empty()) Observe(nanoseconds(0), now);
  call->arrived_ = now;
  call->place_ = Place::kWaiting;
  queued_bytes_ += Charge(*call);
  call->in_queue_ = queue_.insert(queue_.end(), call);
  AdvanceLocked(now);
}

void Admission::Advance(Time now) {
  MutexLock lock(&mu_);
  AdvanceLocked(now);
}

Admission::Place Admission::PlaceOf(const Call& call) const {
  MutexLock lock(&mu_);
  return call.place_;
}

bool Admission::Abandon(Call* call, Time now) {
  MutexLock lock(&mu_);
  if (call->place_ != Place::kWaiting) return false;
  LeaveLocked(call, now);
  return true;
}

void Admission::Stall(Call* call, Time now) {
  MutexLock lock(&mu_);
  if (call->place_ != Place::kRunning || call->stalled_) return;
  call->stalled_ = true;
  ++stalled_;
  --running_;
  running_bytes_ -= Charge(*call);
  AdvanceLocked(now);
}

void Admission::Resume(Call* call) {
  if (!call->stalled_) return;
  call->stalled_ = false;
  --stalled_;
  ++running_;
  running_bytes_ += Charge(*call);
}

void Admission::Sent(Call* call, int64_t bytes, Time now) {
  MutexLock lock(&mu_);
  if (call->place_ != Place::kRunning) return;
  Resume(call);
  const int64_t before = Charge(*call);
  const int64_t of_client_before = ClientCharge(*call);
  call->left_bytes_ = std::max<int64_t>(call->left_bytes_ - bytes, 0);
  call->its_->reply_bytes -= of_client_before - ClientCharge(*call);
  const int64_t freed = before - Charge(*call);
  if (freed == 0) return;
  running_bytes_ -= freed;
  AdvanceLocked(now);
}

void Admission::Leave(Call* call, Time now) {
  MutexLock lock(&mu_);
  LeaveLocked(call, now);
}

void Admission::LeaveLocked(Call* call, Time now) {
  switch (call->place_) {
    case Place::kWaiting:
      RemoveFromQueue(call);
      break;
    case Place::kRunning:
      if (call->stalled_) {
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
  call->place_ = Place::kOutside;
  RemoveFromClient(call);
  if (queue_.empty()) Observe(nanoseconds(0), now);
  AdvanceLocked(now);
}

void Admission::RemoveFromQueue(Call* call) {
  queue_.erase(call->in_queue_);
  queued_bytes_ -= Charge(*call);
}

void Admission::RemoveFromClient(Call* call) {
  Client& client = *call->its_;
  call->its_ = nullptr;
  --client.calls;
  client.reply_bytes -= ClientCharge(*call);
  if (client.calls == 0 && !HasRates()) clients_.erase(call->client_);
}

void Admission::RefuseWaiting(Call* call, Refusal why, Time now) {
  const nanoseconds waited = now - call->arrived_;
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

// A client with no more than its share of the turns need not pay for what the others ask.
bool Admission::IsModest(const Call& call) const {
  const auto share = max_running_ / static_cast<int64_t>(std::max<size_t>(clients_.size(), 1));
  return call.its_->calls <= std::max<int64_t>(share, 1);
}

// In an overload: who has waited for too long. Of the modest, as many are spared as get their turn
// soon: were it more, all of many equal clients would wait for long, and be refused only then.
void Admission::RefuseLate(Time now) {
  int64_t to_spare = FewTurns();
  for (auto it = queue_.begin(); it != queue_.end();) {
    Call* const call = *it++;
    const nanoseconds waited = now - call->arrived_;
    if (waited <= limits_.max_overload_delay) return;  // as all that came later
    if (to_spare > 0 && waited <= 2 * limits_.max_queue_delay && IsModest(*call)) {
      --to_spare;
      continue;
    }
    refused_late_ = true;
    RefuseWaiting(call, Refusal::kQueueDelay, now);
  }
}

// The oldest; in an overload the oldest of the clients that have the fewest calls.
Admission::Call* Admission::NextToRun() const {
  if (!overloaded_) return queue_.front();
  Call* next = nullptr;
  int64_t fewest = 0;
  for (Call* const call : queue_) {
    if (next != nullptr && call->its_->calls >= fewest) continue;
    next = call;
    fewest = call->its_->calls;
  }
  return next;
}

// As "Controlling queue delay" (Nichols, Jacobson 2012) does for packets: not the queue's length
// but the time that it is never short for tells a burst from an overload. Unlike packets, calls are
// told that they are refused, and soon.
void Admission::AdvanceLocked(Time now) {
  while (!queue_.empty()) {
    Observe(now - queue_.front()->arrived_, now);
    if (overloaded_) RefuseLate(now);
    if (queue_.empty() || running_ >= max_running_) return;
    Call* const next = NextToRun();
    if (next->deadline_ <= now) {
      RefuseWaiting(next, Refusal::kExpired, now);
      continue;
    }
    if (!Fits(*next)) return;
    Run(next);
  }
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
