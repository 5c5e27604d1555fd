// The same work on several threads, each told which it is.
#pragma once

#include <functional>
#include <thread>
#include <vector>

namespace vicinity {

// Runs work(0) on the calling thread and work(1) .. work(num_threads - 1) on threads of their own;
// returns when all have returned.
inline void RunThreads(int num_threads, const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  for (int i = 1; i < num_threads; ++i) threads.emplace_back(work, i);
  work(0);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace vicinity
