#include "server/worker_pool.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <deque>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "proto/common/mutex.h"

namespace vicinity {
namespace {

// Pushes itself again, some times.
class Chain final : public WorkerPool::Task {
 public:
  Chain(WorkerPool* pool, int times, std::atomic<int>* ran)
      : pool_(pool), left_(times), ran_(ran) {}
  void Run() override {
    ++*ran_;
    if (--left_ > 0) pool_->Push(this);
  }

 private:
  WorkerPool* const pool_;
  int left_;
  std::atomic<int>* const ran_;
};

TEST_CASE("all that was pushed runs, by whichever thread, before the pool ends",
          "[worker_pool][threads]") {
  std::atomic<int> ran{0};
  std::deque<Chain> chains;
  {
    WorkerPool pool(3);
    for (int i = 0; i < 200; ++i) chains.emplace_back(&pool, 50, &ran);
    std::vector<std::thread> pushers;
    for (int t = 0; t < 4; ++t) {
      pushers.emplace_back([&, t] {
        for (int i = t; i < 200; i += 4) pool.Push(&chains[static_cast<size_t>(i)]);
      });
    }
    for (std::thread& pusher : pushers) pusher.join();
  }
  CHECK(ran == 200 * 50);
}

// Waits until so many like it run at once.
class Meeting final : public WorkerPool::Task {
 public:
  Meeting(int size, std::atomic<int>* met) : size_(size), met_(met) {}
  void Run() override {
    ++*met_;
    for (int i = 0; i < 3000 && *met_ < size_; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

 private:
  const int size_;
  std::atomic<int>* const met_;
};

TEST_CASE("as many run at once as there are threads", "[worker_pool]") {
  std::atomic<int> met{0};
  const auto began = std::chrono::steady_clock::now();
  {
    std::deque<Meeting> tasks;
    for (int i = 0; i < 4; ++i) tasks.emplace_back(4, &met);
    WorkerPool pool(4);
    for (Meeting& task : tasks) pool.Push(&task);
  }
  CHECK(met == 4);
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(25));
}

}  // namespace
}  // namespace vicinity
