// A shard that is here but behaves as if it were behind a server: it answers later, from another
// thread, fails when told to, or never answers at all.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "client/shards/call_context.h"
#include "client/shards/fan_out.h"
#include "client/shards/shard_access.h"
#include "proto/common/mutex.h"

namespace vicinity::testing {

// Shared with the test, which may change it while calls are under way.
struct Faults {
  std::atomic<bool> silent{false};      // calls end only when they are cancelled
  std::atomic<int64_t> fail_after{-1};  // calls after this many fail with Unavailable; -1: none
  std::atomic<int64_t> calls{0};
};

// Threads: as ShardAccess. Lifetime: `faults` must outlive it; calls must be over before it goes.
class FarShard final : public AnswersAlike<FarShard> {
 public:
  FarShard(std::unique_ptr<ShardAccess> near, Faults* faults)
      : near_(std::move(near)), faults_(faults), worker_([this] { Work(); }) {}

  ~FarShard() override {
    {
      MutexLock lock(&mu_);
      stopped_ = true;
      changed_.NotifyAll();
    }
    worker_.join();
  }

  bool remote() const override { return true; }

  template <typename Request>
  void AskAny(const Request& request, const CallContext& context, Done done) {
    Run(context, std::move(done),
        [this, request](Done then) { near_->Ask(request, nullptr, std::move(then)); });
  }

 private:
  void Run(const CallContext& context, Done done, std::function<void(Done)> call) {
    const int64_t number = faults_->calls.fetch_add(1);
    const int64_t fail_after = faults_->fail_after.load();
    if (faults_->silent && context.cancel != nullptr) {
      context.cancel->Add([done] { done(absl::CancelledError("far shard")); });
      return;
    }
    MutexLock lock(&mu_);
    if (fail_after >= 0 && number >= fail_after) {
      tasks_.push_back([done] { done(absl::UnavailableError("shard 1 is away")); });
    } else {
      tasks_.push_back([call = std::move(call), done] { call(done); });
    }
    changed_.NotifyAll();
  }

  void Work() {
    while (true) {
      std::function<void()> task;
      {
        MutexLock lock(&mu_);
        while (tasks_.empty() && !stopped_) changed_.WaitFor(&mu_, std::chrono::seconds(1));
        if (tasks_.empty()) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      task();
    }
  }

  const std::unique_ptr<ShardAccess> near_;
  Faults* const faults_;
  Mutex mu_;
  CondVar changed_;
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
  std::deque<std::function<void()>> tasks_ ABSL_GUARDED_BY(mu_);
  std::thread worker_;
};

}  // namespace vicinity::testing
