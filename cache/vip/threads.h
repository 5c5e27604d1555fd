// The same work on several threads, each told which it is.
#pragma once

#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "proto/common/thread.h"

namespace vicinity {

// Runs work(0) on the calling thread and work(1) .. work(num_threads - 1) on threads of their own;
// returns when all have returned. What finds no thread, where the system has no more, runs on the
// calling one, after the rest: so no part of the work may wait for another.
inline void RunThreads(int num_threads, const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  int next = 1;
  for (; next < num_threads; ++next) {
    absl::StatusOr<std::thread> thread = StartThread([&work, next] { work(next); });
    if (!thread.ok()) break;
    threads.push_back(*std::move(thread));
  }
  work(0);
  for (; next < num_threads; ++next) work(next);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace vicinity
