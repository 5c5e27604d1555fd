#include "server/admission/worker_pool.h"

#include <algorithm>
#include <chrono>

namespace vicinity {

WorkerPool::WorkerPool(int64_t num_threads) {
  for (int64_t i = 0; i < num_threads; ++i) threads_.emplace_back([this] { Work(); });
}

WorkerPool::~WorkerPool() {
  {
    const MutexLock lock(&mu_);
    stopping_ = true;
    for (Idle* idle : idle_) idle->woken.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::Push(Task* task) {
  const MutexLock lock(&mu_);
  if (idle_.empty()) {
    tasks_.push_back(task);
    return;
  }
  Idle* const idle = idle_.back();
  idle_.pop_back();
  idle->task = task;
  // Under the lock: once it is let go the thread may be done, and its Idle gone.
  idle->woken.NotifyAll();
}

void WorkerPool::RunBrief(Task* task) {
  if (!HasIdle() || running_brief_.exchange(true)) return Push(task);
  task->Run();
  running_brief_ = false;
}

bool WorkerPool::HasIdle() const {
  const MutexLock lock(&mu_);
  return !idle_.empty();
}

WorkerPool::Task* WorkerPool::Take() {
  const MutexLock lock(&mu_);
  if (!tasks_.empty()) {
    Task* const task = tasks_.front();
    tasks_.pop_front();
    return task;
  }
  if (stopping_) return nullptr;
  Idle self;
  idle_.push_back(&self);
  while (self.task == nullptr && !stopping_) {
    self.woken.WaitFor(&mu_, std::chrono::seconds(1));
  }
  if (self.task == nullptr) idle_.erase(std::find(idle_.begin(), idle_.end(), &self));
  return self.task;
}

void WorkerPool::Work() {
  while (Task* const task = Take()) task->Run();
}

}  // namespace vicinity
