// Calls that nobody waits for: a few threads work them off, and tell whoever asked.
//
//   in line --a free thread--> working --its end--> telling (on_done runs) --> gone
//      |                          | Cancel, deadline, Stop: its RPCs are cancelled, which ends it
//      | Cancel, deadline, Stop
//      v
//   first in line: told by the next free thread or by the timer's, whichever comes first
//
// The work blocks its thread while shards are waited for: a thread more is a call more at a time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/replicas/timer.h"
#include "client/shards/call_context.h"
#include "client/shards/cancellation.h"
#include "client/types/async_values.h"
#include "client/types/error.h"
#include "client/types/result.h"
#include "proto/common/mutex.h"
#include "proto/common/thread.h"
#include "proto/telemetry/trace_context.h"

namespace vicinity {

// Threads:  any number. Callers of Begin and Cancel never run a callback.
// Lifetime: callbacks may use it until Stop() has returned, an AsyncCall for ever: it holds no
//           reference that counts.
// Errors:   what a call answers instead of its result: Cancelled after Cancel and Stop,
//           DeadlineExceeded after its timeout.
class AsyncCalls : public std::enable_shared_from_this<AsyncCalls> {
 public:
  struct Options {
    int threads = 1;        // how many calls are worked on at a time
    int max_in_flight = 1;  // calls that were begun and whose callback was not
  };

  // ResourceExhausted if its threads cannot be had.
  static absl::StatusOr<std::shared_ptr<AsyncCalls>> Create(const Options& options,
                                                            std::unique_ptr<Timer> timer);
  ~AsyncCalls();
  AsyncCalls(const AsyncCalls&) = delete;
  AsyncCalls& operator=(const AsyncCalls&) = delete;

  // Has `work`, an absl::StatusOr<T>(const CallContext&), done in a thread, and gives its answer to
  // `on_done` there. InvalidArgument for a timeout that is not above 0, ResourceExhausted at
  // max_in_flight, Cancelled after Stop: neither is ever called then.
  template <typename T, typename Work>
  absl::StatusOr<AsyncCall> Begin(std::chrono::milliseconds timeout, Work work,
                                  std::function<void(Result<T>)> on_done) {
    return Enter(
        timeout, [work = std::move(work), on_done = std::move(on_done)](Call* call) mutable {
          return Tell([on_done = std::move(on_done), answer = call->Run<T>(work)]() mutable {
            on_done(std::move(answer));
          });
        });
  }

  void Cancel(int64_t number) { End(number, Ending::kCancelled); }

  // Ends all calls and returns when the last callback has. Not from a callback.
  void Stop();

 private:
  // Why a call is to end.
  enum class Ending : uint8_t { kNone, kCancelled, kLate, kStopped };
  using Tell = std::function<void()>;

  struct Call {
    // What `work` gives, or what the call is to answer instead.
    template <typename T, typename Work>
    Result<T> Run(const Work& work) {
      if (const absl::Status ended = Ended(); !ended.ok()) return ToError(ended);
      absl::StatusOr<T> answer =
          WithinResources([&] { return work(CallContext(&cancel, StartTrace())); });
      if (!absl::IsCancelled(answer.status())) return ToResult(std::move(answer));
      const absl::Status ended = Ended();
      return ToError(ended.ok() ? answer.status() : ended);
    }
    absl::Status Ended() const;

    std::function<Tell(Call*)> work;
    std::chrono::milliseconds timeout;
    int64_t number = 0;
    int64_t timer_id = 0;
    Cancellation cancel;
    std::atomic<Ending> ending{Ending::kNone};
  };
  using CallPtr = std::shared_ptr<Call>;

  AsyncCalls(const Options& options, std::unique_ptr<Timer> timer);
  absl::StatusOr<AsyncCall> Enter(std::chrono::milliseconds timeout,
                                  std::function<Tell(Call*)> work);
  void End(int64_t number, Ending why);
  void Work();       // what a thread runs
  void TellEnded();  // the timer's
  CallPtr TakeFirst() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Answer(const CallPtr& call);

  const Options options_;
  Mutex mu_;
  CondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  int64_t last_number_ ABSL_GUARDED_BY(mu_) = 0;
  std::map<int64_t, CallPtr> in_flight_ ABSL_GUARDED_BY(mu_);
  // Those that no thread has taken, by number; by -number, so before all others, once they are to
  // end.
  std::map<int64_t, CallPtr> line_ ABSL_GUARDED_BY(mu_);
  int answering_ ABSL_GUARDED_BY(mu_) = 0;  // threads, the timer's included, at work or telling
  std::vector<std::thread> threads_;
  const std::unique_ptr<Timer> timer_;  // last: its callbacks use all above
};

}  // namespace vicinity
