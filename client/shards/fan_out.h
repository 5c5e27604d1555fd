// Several calls at once, and one wait for all of them.
#pragma once

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "proto/common/mutex.h"

namespace vicinity {

// How a call reports that it is over and no longer touches its buffers; called exactly once, from
// any thread, perhaps before the function that started the call returns.
using Done = std::function<void(absl::Status)>;

// Buffers handed to calls must not go before the last of them is over, so there is no way to leave
// before that: Wait() returns after every Done, and so does the destructor.
//
// Threads:  Add and Wait from one thread, the Dones from any.
// Errors:   the first that was reported; the others are dropped.
class FanOut {
 public:
  FanOut() = default;
  ~FanOut();
  FanOut(const FanOut&) = delete;
  FanOut& operator=(const FanOut&) = delete;

  // One more call to wait for.
  Done Add();

  // How long is up to the calls, each of which has a deadline of its own.
  absl::Status Wait();

 private:
  void Finish(absl::Status status);

  Mutex mu_;
  CondVar done_;
  int64_t running_ ABSL_GUARDED_BY(mu_) = 0;
  absl::Status first_error_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vicinity
