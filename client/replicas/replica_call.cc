#include "client/replicas/replica_call.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/shards/own_status.h"
#include "proto/common/retry_delay.h"
#include "proto/limits.h"

namespace vicinity {
namespace {

// Between two looks for a replica that has become live, or for a token.
constexpr std::chrono::nanoseconds kLookAgain = std::chrono::milliseconds(20);
constexpr std::chrono::milliseconds kLongestHold(5000);

double Seconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

void ReplicaCall::Start(const CallTools& tools, ReplicaSet* set, ReplicaQuestion question,
                        const CallContext& context, Done done) {
  std::make_shared<ReplicaCall>(tools, set, std::move(question), context, std::move(done))->Begin();
}

ReplicaCall::ReplicaCall(const CallTools& tools, ReplicaSet* set, ReplicaQuestion question,
                         const CallContext& context, Done done)
    : tools_(tools),
      set_(set),
      question_(std::move(question)),
      context_(context),
      size_(std::max<int64_t>(1, (question_.bytes + kMaxCallBytes - 1) / kMaxCallBytes)),
      started_(tools.replicas.timer->Now()),
      deadline_(started_ + tools.policy.call_budget * size_),
      max_attempts_(std::max(tools.policy.max_attempts,
                             set->size() * ReplicaServer::Options().max_marks + 1)),
      done_(std::move(done)),
      tried_(set->size(), 0),
      errors_(set->size()) {}

void ReplicaCall::Begin() {
  tools_.replicas.traffic->shard_calls.Add();
  tools_.hedging->CountCall();
  int64_t id = -1;
  if (context_.cancel != nullptr) {
    id = context_.cancel->Add([self = shared_from_this()] { self->OnCancel(); });
  }
  {
    MutexLock lock(&mu_);
    cancel_id_ = id;
    begun_ = true;
    if (context_.trace.sampled && tools_.tracer != nullptr) {
      spans_ = std::make_unique<SpanTree>(StartSpan(context_.trace), context_.trace.span,
                                          SpanKind::kInternal, question_.method);
    }
  }
  Proceed();
}

bool ReplicaCall::IsRunning() const {
  return running_[kFirst].attempt != nullptr || running_[kHedge].attempt != nullptr;
}

bool ReplicaCall::HasOutcome() const { return winner_ != nullptr || !fatal_.ok() || cancelled_; }

void ReplicaCall::Proceed() {
  AttemptPtr attempt;
  std::optional<absl::Status> outcome;
  {
    MutexLock lock(&mu_);
    if (finished_ || !begun_ || IsRunning()) return;  // keeps I2
    const Timer::Time now = tools_.replicas.timer->Now();
    outcome = Outcome(now);
    if (outcome.has_value()) {
      finished_ = true;
    } else {
      attempt = NextAttempt(now);
    }
  }
  if (outcome.has_value()) return Finish(*std::move(outcome));
  if (attempt != nullptr) Run(attempt);
}

std::optional<absl::Status> ReplicaCall::Outcome(Timer::Time now) {
  if (winner_ != nullptr) return absl::OkStatus();
  if (cancelled_) {
    return absl::CancelledError(
        absl::StrCat("shard ", set_->shard().value, ": ", question_.method, ": cancelled"));
  }
  if (!fatal_.ok()) return OwnStatus(fatal_);
  if (absl::Status replaced = set_->Replaced(); !replaced.ok()) return replaced;
  if (attempts_ >= max_attempts_ || std::max(now, not_before_) >= deadline_) {
    return AllFailed(now);
  }
  return std::nullopt;
}

ReplicaCall::AttemptPtr ReplicaCall::NextAttempt(Timer::Time now) {
  if (now < not_before_) {
    WakeAt(not_before_);
    return nullptr;
  }
  const int replica = question_.of_writer ? set_->PickWriter(tried_, now)
                                          : set_->Pick(tried_, ReplicaSet::kNone, now);
  if (replica == ReplicaSet::kNone) {
    for (int i = 0; i < set_->size(); ++i) set_->server(i).ProbeSoon();
  }
  waiting_for_retry_token_ = replica != ReplicaSet::kNone && attempts_ > 0 && !goes_elsewhere_ &&
                             !tools_.budget->TryTake(now);
  if (replica == ReplicaSet::kNone || waiting_for_retry_token_) {
    const auto wait = kLookAgain / 2 + tools_.replicas.jitter->UpTo(kLookAgain / 2);
    WakeAt(std::min(now + wait, deadline_));
    return nullptr;
  }
  if (attempts_++ > 0) tools_.replicas.traffic->retries.Add();
  AttemptPtr attempt = MakeAttempt(kFirst, replica, now);
  const auto delay = tools_.hedging->Delay(question_.operation);
  hedge_at_.reset();
  if (delay.has_value() && !hedged_ && !question_.of_writer) hedge_at_ = now + *delay;
  WakeForAttempts();
  return attempt;
}

ReplicaCall::AttemptPtr ReplicaCall::MakeAttempt(Role role, int replica, Timer::Time now) {
  auto attempt = std::make_shared<Attempt>();
  attempt->role = role;
  attempt->replica = replica;
  attempt->started = now;
  attempt->expires = std::min(now + tools_.policy.attempt_timeout * size_, deadline_);
  BeginSpan(attempt.get());
  set_->server(replica).Begin(question_.bytes);
  tools_.replicas.traffic->attempts.Add();
  running_[role].attempt = attempt;  // keeps I1
  return attempt;
}

void ReplicaCall::BeginSpan(Attempt* attempt) {
  attempt->trace = context_.trace;
  if (spans_ == nullptr) return;
  attempt->span = spans_->Begin(attempt->role == kHedge ? "hedge" : "attempt", SpanKind::kClient);
  Span& span = spans_->part(attempt->span);
  span.Set("server", set_->server(attempt->replica).name());
  attempt->trace = span.context;
}

void ReplicaCall::EndSpan(const Running& ended, const absl::Status& status) {
  if (spans_ == nullptr) return;
  Span& span = spans_->part(ended.attempt->span);
  if (ended.lost) span.Set("lost", "the other attempt, or the caller, was first");
  if (ended.expired) span.Set("expired", "it took too long");
  if (winner_ == ended.attempt) span.Set("won", 1);
  spans_->End(ended.attempt->span, status.code());
}

ReplicaCall::AttemptPtr ReplicaCall::TryHedge(Timer::Time now) {
  hedge_at_.reset();
  const int first = running_[kFirst].attempt->replica;
  const int replica = set_->Pick(tried_, first, now);
  if (replica == ReplicaSet::kNone || !tools_.hedging->TryTake()) return nullptr;
  if (!tools_.budget->TryTake(now)) {
    tools_.hedging->GiveBack();
    return nullptr;
  }
  hedged_ = true;
  tools_.replicas.traffic->hedges.Add();
  return MakeAttempt(kHedge, replica, now);
}

void ReplicaCall::Run(const AttemptPtr& attempt) {
  if (attempt->role == kHedge) attempt->apart = question_.apart();
  const ReplicaQuestion::Ask& ask = attempt->role == kHedge ? attempt->apart.ask : question_.ask;
  CallContext context = context_.CancelledBy(&attempt->cancel);
  context.trace = attempt->trace;
  ask(set_->access(attempt->replica), context,
      [self = shared_from_this(), attempt](const absl::Status& status) {
        self->OnEnd(attempt, status);
      });
}

void ReplicaCall::WakeAt(Timer::Time when) {
  if (timer_id_ >= 0) tools_.replicas.timer->Cancel(timer_id_);
  timer_id_ =
      tools_.replicas.timer->Schedule(when, [self = shared_from_this()] { self->OnTimer(); });
}

void ReplicaCall::WakeForAttempts() {
  Timer::Time when = Timer::Time::max();
  for (const Running& each : running_) {
    if (each.attempt != nullptr && !each.expired) when = std::min(when, each.attempt->expires);
  }
  if (hedge_at_.has_value()) when = std::min(when, *hedge_at_);
  if (when != Timer::Time::max()) WakeAt(when);
}

std::vector<ReplicaCall::AttemptPtr> ReplicaCall::Expire(Timer::Time now) {
  std::vector<AttemptPtr> expired;
  for (Running& each : running_) {
    if (each.attempt == nullptr || each.expired || now < each.attempt->expires) continue;
    each.expired = true;
    expired.push_back(each.attempt);
  }
  return expired;
}

bool ReplicaCall::MayHedge(Timer::Time now) const {
  const bool alone = running_[kFirst].attempt != nullptr && running_[kHedge].attempt == nullptr;
  return alone && winner_ == nullptr && hedge_at_.has_value() && *hedge_at_ <= now;
}

void ReplicaCall::OnTimer() {
  std::vector<AttemptPtr> expired;
  AttemptPtr hedge;
  {
    MutexLock lock(&mu_);
    timer_id_ = -1;
    if (finished_) return;
    const Timer::Time now = tools_.replicas.timer->Now();
    expired = Expire(now);
    if (expired.empty() && MayHedge(now)) hedge = TryHedge(now);
    if (IsRunning()) WakeForAttempts();
  }
  for (const AttemptPtr& attempt : expired) attempt->cancel.Cancel();
  if (hedge != nullptr) Run(hedge);
  Proceed();
}

void ReplicaCall::OnCancel() {
  std::array<AttemptPtr, 2> attempts;
  {
    MutexLock lock(&mu_);
    cancelled_ = true;
    for (size_t role = 0; role < attempts.size(); ++role) attempts[role] = running_[role].attempt;
  }
  for (const AttemptPtr& attempt : attempts) {
    if (attempt != nullptr) attempt->cancel.Cancel();
  }
  Proceed();
}

void ReplicaCall::OnEnd(const AttemptPtr& attempt, absl::Status status) {
  AttemptPtr loser;
  {
    MutexLock lock(&mu_);
    const Timer::Time now = tools_.replicas.timer->Now();
    set_->server(attempt->replica).End(question_.bytes);
    const Running ended = std::exchange(running_[attempt->role], Running());
    if (ended.expired && absl::IsCancelled(status)) {
      status = absl::DeadlineExceededError(absl::StrFormat(
          "%s: no answer in %.1f s", Where(attempt->replica), Seconds(now - attempt->started)));
    }
    if (status.ok() && winner_ == nullptr) winner_ = attempt;
    EndSpan(ended, status);
    Learn(ended, status, now);
    Running& other = running_[OtherThan(attempt->role)];
    if (other.attempt != nullptr && HasOutcome()) {
      other.lost = true;
      loser = other.attempt;
    }
    hedge_at_.reset();
  }
  if (loser != nullptr) loser->cancel.Cancel();
  Proceed();
}

void ReplicaCall::Learn(const Running& ended, const absl::Status& status, Timer::Time now) {
  const Attempt& attempt = *ended.attempt;
  if (status.ok()) {
    set_->server(attempt.replica).OnSuccess();
    set_->OnSound(attempt.replica);
    if (question_.of_writer) set_->OnWriter(attempt.replica);
    tools_.hedging->Observe(question_.operation, now - attempt.started);
  } else if (ended.lost || cancelled_) {
    LearnFromLoss(attempt, now);
  } else {
    LearnFromFailure(attempt, status, now);
  }
}

// An attempt that a later one overtook has failed, too, or nobody would ever find out that its
// server has stopped. Other attempts that were cancelled say nothing.
void ReplicaCall::LearnFromLoss(const Attempt& attempt, Timer::Time now) {
  if (attempt.role != kFirst || winner_ == nullptr || winner_->role != kHedge) return;
  tools_.hedging->Observe(question_.operation, now - attempt.started);
  set_->server(attempt.replica)
      .OnFailure(absl::DeadlineExceededError(
          absl::StrFormat("%s: no answer in %.3f s, when another replica had given one",
                          Where(attempt.replica), Seconds(now - attempt.started))));
}

void ReplicaCall::LearnFromFailure(const Attempt& attempt, const absl::Status& status,
                                   Timer::Time now) {
  ReplicaServer& server = set_->server(attempt.replica);
  tried_[attempt.replica] = 1;
  errors_[attempt.replica] = OwnStatus(status);
  not_before_ =
      now + tools_.replicas.jitter->UpTo(tools_.policy.MaxBackoff(std::max(1, attempts_)));
  const FailureKind kind = KindOf(status, question_.of_writer);
  goes_elsewhere_ = kind == FailureKind::kElsewhere;
  switch (kind) {
    case FailureKind::kElsewhere:
      if (set_->size() > 1) break;
      [[fallthrough]];
    case FailureKind::kCall:
      if (fatal_.ok()) fatal_ = OwnStatus(status);
      break;
    case FailureKind::kServer:
      server.OnFailure(status);
      break;
    case FailureKind::kCopy:
      set_->OnDamage(attempt.replica, now);
      break;
    case FailureKind::kBusy:
      if (const auto delay = RetryDelayOf(status); delay.has_value()) {
        server.HoldUntil(now + std::min(*delay, kLongestHold));
      }
      break;
    case FailureKind::kOtherDataset:
      server.Expel(status);
      if (set_->size() == 1 && fatal_.ok()) fatal_ = OwnStatus(status);
      break;
  }
}

void ReplicaCall::Finish(absl::Status status) {
  Done done;
  AttemptPtr winner;
  std::unique_ptr<SpanTree> spans;
  int64_t cancel_id = -1;
  {
    MutexLock lock(&mu_);
    done = std::move(done_);
    spans = std::move(spans_);
    if (spans != nullptr) spans->root().Set("attempts", attempts_);
    winner = winner_;
    cancel_id = cancel_id_;
    if (timer_id_ >= 0) tools_.replicas.timer->Cancel(timer_id_);
    timer_id_ = -1;
  }
  if (context_.cancel != nullptr) context_.cancel->Remove(cancel_id);
  if (status.ok()) {
    tools_.budget->OnSuccess();
    if (winner->role == kHedge) {
      tools_.replicas.traffic->hedge_wins.Add();
      winner->apart.take();
    }
  }
  if (spans != nullptr) {
    spans->root().Set("shard", set_->shard().value);
    spans->root().Set("bytes", question_.bytes);
    tools_.tracer->Record(spans->Finish(status.code()));
  }
  done(std::move(status));
}

absl::Status ReplicaCall::AllFailed(Timer::Time now) const {
  std::string text =
      absl::StrFormat("shard %d: %s: no answer in %.1f s and %d attempts", set_->shard().value,
                      question_.method, Seconds(now - started_), attempts_);
  if (waiting_for_retry_token_) absl::StrAppend(&text, ", too many calls failed to try again");
  std::optional<absl::StatusCode> code;
  bool behind = false;
  for (int i = 0; i < set_->size(); ++i) {
    const absl::Status known = errors_[i].ok() ? set_->server(i).last_error() : errors_[i];
    const absl::Status why = known.ok() ? absl::UnavailableError("not asked in time") : known;
    absl::StrAppend(&text, i == 0 ? ": " : "; ",
                    errors_[i].ok() ? absl::StrCat(Where(i), ": not asked: ") : "", why.message());
    code = code.value_or(why.code()) == why.code() ? why.code() : absl::StatusCode::kUnavailable;
    behind |= absl::IsOutOfRange(errors_[i]);
  }
  // Some are there, and none has the version that is asked for, or the session's last batches.
  if (behind) code = absl::StatusCode::kOutOfRange;
  // Where none of several servers writes the shard, one may soon.
  if (question_.of_writer && code == absl::StatusCode::kUnimplemented) {
    code = absl::StatusCode::kUnavailable;
  }
  return absl::Status(*code, text);
}

std::string ReplicaCall::Where(int replica) const {
  return absl::StrCat("shard ", set_->shard().value, " at ", set_->server(replica).name(), ": ",
                      question_.method);
}

}  // namespace vicinity
