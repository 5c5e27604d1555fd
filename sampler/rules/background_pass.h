// A pass over a shard beside the calls that will gain from it: one at a time, in a thread of its
// own.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace vicinity {

// Threads:  Start by one at a time, and not by the pass itself; stops() by any.
// Lifetime: the destructor waits for the pass, which so must look at stops() every some
//           milliseconds.
class BackgroundPass {
 public:
  BackgroundPass() = default;
  ~BackgroundPass();
  BackgroundPass(const BackgroundPass&) = delete;
  BackgroundPass& operator=(const BackgroundPass&) = delete;

  bool is_running() const { return is_running_; }
  // Runs `pass` in the background. False, and it is not run, while another is under way, or where
  // no thread can be had.
  bool Start(std::function<void()> pass);

  // True once the destructor waits.
  bool stops() const { return stops_; }

 private:
  std::atomic<bool> stops_{false};
  std::atomic<bool> is_running_{false};
  std::thread thread_;
};

}  // namespace vicinity
