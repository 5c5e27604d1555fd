#include "server/worker_pool.h"

#include <chrono>

namespace vicinity {

WorkerPool::WorkerPool(int64_t num_threads) {
  for (int64_t i = 0; i < num_threads; ++i) threads_.emplace_back([this] { Work(); });
}

WorkerPool::~WorkerPool() {
  {
    MutexLock lock(&mu_);
    stopping_ = true;
  }
  pushed_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::Push(Task* task) {
  {
    MutexLock lock(&mu_);
    tasks_.push_back(task);
  }
  pushed_.NotifyOne();
}

void WorkerPool::Work() {
  for (;;) {
    Task* task = nullptr;
    {
      MutexLock lock(&mu_);
      while (tasks_.empty() && !stopping_) {
        pushed_.WaitFor(&mu_, std::chrono::seconds(1));
      }
      if (tasks_.empty()) return;
      task = tasks_.front();
      tasks_.pop_front();
    }
    task->Run();
  }
}

}  // namespace vicinity
