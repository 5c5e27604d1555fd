// The threads that answer calls: a fixed number, however many calls there are.
//
// Work goes to the thread that was the last to end some: its stack and its part of the heap are
// still in the cache, and threads that a load does not need sleep on.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "proto/common/mutex.h"

namespace vicinity {

// Threads:  any.
// Lifetime: the destructor waits until all that was pushed has run; whoever is in RunBrief must
// have
//           returned.
class WorkerPool {
 public:
  // Something to run. The pool does not own it and touches it no more once Run has begun, so Run
  // may delete it or push it again.
  class Task {
   public:
    virtual void Run() = 0;

   protected:
    ~Task() = default;
  };

  explicit WorkerPool(int64_t num_threads);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Runs `task` on one of the threads, after those that were pushed before it. A task must have
  // begun to run before it is pushed again.
  void Push(Task* task);

  // The same for a task that is soon over: it runs in the caller's thread, before this returns,
  // which spares the waking of another. Pushed after all while another task runs so, or while no
  // thread of the pool is idle: if it takes long, one caller waits for it, not all.
  void RunBrief(Task* task);

 private:
  // A thread that has nothing to do.
  struct Idle {
    Task* task = nullptr;  // what it is woken for
    CondVar woken;
  };

  void Work();
  bool HasIdle() const;
  // Null: the pool ends, and there is nothing left.
  Task* Take();

  std::atomic<bool> running_brief_{false};
  mutable Mutex mu_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  // In the order of arrival; while a thread is idle there are none.
  std::deque<Task*> tasks_ ABSL_GUARDED_BY(mu_);
  std::vector<Idle*> idle_ ABSL_GUARDED_BY(mu_);  // the last is woken first
  std::vector<std::thread> threads_;              // last: they use all above
};

}  // namespace vicinity
