#include "client/async_calls.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace vicinity {
namespace {

constexpr std::chrono::nanoseconds kRecheck = std::chrono::seconds(1);
// Far below where the clock's nanoseconds end.
constexpr std::chrono::milliseconds kLongestTimeout = std::chrono::hours(24 * 365);

}  // namespace

void AsyncCall::Cancel() const {
  if (const std::shared_ptr<AsyncCalls> calls = calls_.lock()) calls->Cancel(number_);
}

absl::Status AsyncCalls::Call::Ended() const {
  switch (ending.load()) {
    case Ending::kNone:
      break;
    case Ending::kCancelled:
      return absl::CancelledError("the caller cancelled the call");
    case Ending::kLate:
      return absl::DeadlineExceededError(
          absl::StrCat("no answer within the call's timeout of ", timeout.count(), " ms"));
    case Ending::kStopped:
      return absl::CancelledError("the graph was closed with the call under way");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<AsyncCalls>> AsyncCalls::Create(const Options& options,
                                                               std::unique_ptr<Timer> timer) {
  std::shared_ptr<AsyncCalls> calls(new AsyncCalls(options, std::move(timer)));
  for (int i = 0; i < options.threads; ++i) {
    absl::StatusOr<std::thread> thread = StartThread([calls = calls.get()] { calls->Work(); });
    if (!thread.ok()) return thread.status();
    calls->threads_.push_back(*std::move(thread));
  }
  return calls;
}

AsyncCalls::AsyncCalls(const Options& options, std::unique_ptr<Timer> timer)
    : options_(options), timer_(std::move(timer)) {}

AsyncCalls::~AsyncCalls() { Stop(); }

absl::StatusOr<AsyncCall> AsyncCalls::Enter(std::chrono::milliseconds timeout,
                                            std::function<Tell(Call*)> work) {
  if (timeout.count() <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("a timeout of ", timeout.count(), " ms: every call has one above 0"));
  }
  const auto call = std::make_shared<Call>();  // where it is refused, it goes without the lock
  call->work = std::move(work);
  call->timeout = std::min(timeout, kLongestTimeout);
  MutexLock lock(&mu_);
  if (stopping_) return absl::CancelledError("the graph is being closed");
  if (in_flight_.size() >= static_cast<size_t>(options_.max_in_flight)) {
    return absl::ResourceExhaustedError(
        absl::StrCat(in_flight_.size(),
                     " asynchronous calls are in flight, as many as "
                     "max_async_calls allows: begin others when some of them are over"));
  }
  call->number = ++last_number_;
  call->timer_id = timer_->Schedule(timer_->Now() + call->timeout,
                                    [this, number = call->number] { End(number, Ending::kLate); });
  in_flight_.emplace(call->number, call);
  line_.emplace(call->number, call);
  changed_.NotifyOne();
  return AsyncCall(weak_from_this(), call->number);
}

void AsyncCalls::End(int64_t number, Ending why) {
  CallPtr call;
  {
    MutexLock lock(&mu_);
    const auto found = in_flight_.find(number);
    if (found == in_flight_.end()) return;
    call = found->second;
    Ending none = Ending::kNone;
    call->ending.compare_exchange_strong(none, why);
    if (line_.erase(number) > 0) {
      line_.emplace(-number, call);
      timer_->Schedule(timer_->Now(), [this] { TellEnded(); });
    }
  }
  call->cancel.Cancel();  // without the lock: it runs what ends the call's RPCs
}

AsyncCalls::CallPtr AsyncCalls::TakeFirst() {
  CallPtr call = std::move(line_.begin()->second);
  line_.erase(line_.begin());
  ++answering_;
  return call;
}

void AsyncCalls::Work() {
  while (true) {
    CallPtr call;
    {
      MutexLock lock(&mu_);
      while (line_.empty() && !stopping_) changed_.WaitFor(&mu_, kRecheck);
      if (line_.empty()) return;
      call = TakeFirst();
    }
    Answer(call);
  }
}

void AsyncCalls::TellEnded() {
  while (true) {
    CallPtr call;
    {
      MutexLock lock(&mu_);
      if (line_.empty() || line_.begin()->first > 0) return;
      call = TakeFirst();
    }
    Answer(call);
  }
}

void AsyncCalls::Answer(const CallPtr& call) {
  {
    Tell tell = call->work(call.get());
    call->work = nullptr;
    {
      MutexLock lock(&mu_);
      in_flight_.erase(call->number);  // so that the callback may begin the next
      timer_->Cancel(call->timer_id);
    }
    tell();
  }
  MutexLock lock(&mu_);
  --answering_;
  if (stopping_) changed_.NotifyAll();
}

void AsyncCalls::Stop() {
  std::vector<int64_t> numbers;
  {
    MutexLock lock(&mu_);
    stopping_ = true;
    for (const auto& [number, call] : in_flight_) numbers.push_back(number);
    changed_.NotifyAll();
  }
  for (const int64_t number : numbers) End(number, Ending::kStopped);
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();  // each leaves when the line is empty
  }
  MutexLock lock(&mu_);  // the timer may still be telling
  while (answering_ > 0) changed_.WaitFor(&mu_, kRecheck);
}

}  // namespace vicinity
