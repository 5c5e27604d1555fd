// Time as the client's retries see it: a clock, and callbacks at times to come.
//
// An interface, so that everything that waits runs in virtual time, too (tests/testing).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

namespace vicinity {

// Threads:  all methods from any number of threads, callbacks included.
// Lifetime: callbacks that have not run are dropped when it goes.
class Timer {
 public:
  using Time = std::chrono::nanoseconds;  // since some start; never goes back

  virtual ~Timer() = default;
  virtual Time Now() const = 0;

  // Runs `what` once at `when` or soon after, at once for a time that has passed, but never inside
  // this call. It runs in the timer's own thread, so it must be short.
  virtual int64_t Schedule(Time when, std::function<void()> what) = 0;

  // False: it has run, is running, or there is no such callback.
  virtual bool Cancel(int64_t id) = 0;
};

}  // namespace vicinity
