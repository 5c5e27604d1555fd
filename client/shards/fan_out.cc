#include "client/shards/fan_out.h"

#include <chrono>
#include <utility>

namespace vicinity {

FanOut::~FanOut() { Wait().IgnoreError(); }

Done FanOut::Add() {
  MutexLock lock(&mu_);
  ++running_;
  return [this](absl::Status status) { Finish(std::move(status)); };
}

void FanOut::Finish(absl::Status status) {
  MutexLock lock(&mu_);
  if (first_error_.ok()) first_error_ = std::move(status);
  // Under the lock: once it is released with running_ at 0, the waiter may destroy this object.
  if (--running_ == 0) done_.NotifyAll();
}

absl::Status FanOut::Wait() {
  MutexLock lock(&mu_);
  while (running_ > 0) done_.WaitFor(&mu_, std::chrono::seconds(1));
  return first_error_;
}

}  // namespace vicinity
