#include "server/admission/worker_pool.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <deque>
#include <map>
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

class Asking final : public WorkerPool::Task {
 public:
  explicit Asking(std::vector<std::thread::id>* ran_on) : ran_on_(ran_on) {}
  void Run() override {
    ran_on_->push_back(std::this_thread::get_id());
    done_ = true;
  }
  bool done() const { return done_; }

 private:
  std::vector<std::thread::id>* const ran_on_;
  std::atomic<bool> done_{false};
};

TEST_CASE("one task after the other runs on one thread, while the others sleep", "[worker_pool]") {
  constexpr int kTasks = 60;
  std::vector<std::thread::id> ran_on;
  std::deque<Asking> tasks;
  {
    WorkerPool pool(6);
    for (int i = 0; i < kTasks; ++i) {
      tasks.emplace_back(&ran_on);
      pool.Push(&tasks.back());
      for (int wait = 0; wait < 10'000 && !tasks.back().done(); ++wait) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      // So that its thread is idle again.
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  REQUIRE(ran_on.size() == kTasks);
  std::map<std::thread::id, int> of_thread;
  int most = 0;
  for (const std::thread::id id : ran_on) most = std::max(most, ++of_thread[id]);
  // In turns each would have a sixth.
  CHECK(most > kTasks / 2);
}

// Says in which thread it ran, and runs another from within.
class Brief final : public WorkerPool::Task {
 public:
  Brief(WorkerPool* pool, Task* inner) : pool_(pool), inner_(inner) {}
  void Run() override {
    if (inner_ != nullptr) pool_->RunBrief(inner_);
    const MutexLock lock(&mu_);
    thread_ = std::this_thread::get_id();
    ran_.NotifyAll();
  }
  std::thread::id Await() {
    const MutexLock lock(&mu_);
    for (int i = 0; i < 300 && thread_ == std::thread::id(); ++i) {
      ran_.WaitFor(&mu_, std::chrono::milliseconds(100));
    }
    return thread_;
  }

 private:
  WorkerPool* const pool_;
  Task* const inner_;
  Mutex mu_;
  CondVar ran_;
  std::thread::id thread_ ABSL_GUARDED_BY(mu_);
};

// Until a thread of the pool is idle nothing runs here, so it is tried again.
bool EverRunsHere(WorkerPool* pool) {
  for (int i = 0; i < 300; ++i) {
    Brief task(pool, nullptr);
    pool->RunBrief(&task);
    if (task.Await() == std::this_thread::get_id()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST_CASE("a brief task runs in its caller's thread, a second at the same time does not",
          "[worker_pool][threads]") {
  WorkerPool pool(2);
  REQUIRE(EverRunsHere(&pool));
  Brief inner(&pool, nullptr);
  Brief outer(&pool, &inner);
  pool.RunBrief(&outer);
  CHECK(outer.Await() == std::this_thread::get_id());
  const std::thread::id of_inner = inner.Await();
  CHECK(of_inner != std::thread::id());
  CHECK(of_inner != std::this_thread::get_id());
  CHECK(EverRunsHere(&pool));  // the first being over
}

// Holds a thread of the pool until it is let go.
class Hold final : public WorkerPool::Task {
 public:
  void Run() override {
    started_ = true;
    for (int i = 0; i < 3000 && !released_; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  bool AwaitStart() const {
    for (int i = 0; i < 3000 && !started_; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return started_;
  }
  void Release() { released_ = true; }

 private:
  std::atomic<bool> started_{false};
  std::atomic<bool> released_{false};
};

TEST_CASE("while all threads are busy a brief task waits its turn", "[worker_pool][threads]") {
  Hold hold;
  WorkerPool pool(1);
  pool.Push(&hold);
  REQUIRE(hold.AwaitStart());
  Brief task(&pool, nullptr);
  pool.RunBrief(&task);
  hold.Release();
  CHECK(task.Await() != std::this_thread::get_id());
}

}  // namespace
}  // namespace vicinity
