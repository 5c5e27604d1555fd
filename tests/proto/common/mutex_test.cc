#include "proto/common/mutex.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>
#include <vector>

namespace vicinity {
namespace {

struct Counter {
  Mutex mu;
  CondVar changed;
  int value ABSL_GUARDED_BY(mu) = 0;
};

TEST_CASE("a mutex lets one thread at a time through", "[common]") {
  Counter counter;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&counter] {
      for (int i = 0; i < 10'000; ++i) {
        const MutexLock lock(&counter.mu);
        ++counter.value;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const MutexLock lock(&counter.mu);
  CHECK(counter.value == 40'000);
}

TEST_CASE("a wait ends when it is told to", "[common]") {
  Counter counter;
  std::thread setter([&counter] {
    const MutexLock lock(&counter.mu);
    counter.value = 1;
    counter.changed.NotifyAll();
  });
  {
    const MutexLock lock(&counter.mu);
    while (counter.value == 0) counter.changed.WaitFor(&counter.mu, std::chrono::seconds(30));
    CHECK(counter.value == 1);
  }
  setter.join();
}

TEST_CASE("a wait that nobody ends stops at its limit", "[common]") {
  Counter counter;
  const MutexLock lock(&counter.mu);
  // Spurious wake-ups return true: only so many can come before the limit does.
  while (counter.changed.WaitFor(&counter.mu, std::chrono::nanoseconds(1))) {
  }
  CHECK(counter.value == 0);
}

}  // namespace
}  // namespace vicinity
