#include "proto/common/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "proto/common/machine.h"
#include "proto/common/mutex.h"
#include "proto/common/thread.h"

namespace vicinity {
namespace {

constexpr int64_t kMaxThreads = 64;

class Loop {
 public:
  Loop(int64_t num_items, const std::function<absl::StatusOr<int64_t>(int64_t)>& work)
      : num_items_(num_items), work_(work) {}

  // False once nothing is left to start.
  bool RunOne() {
    const int64_t item = next_.fetch_add(1, std::memory_order_relaxed);
    if (item >= num_items_) return false;
    const absl::StatusOr<int64_t> result = WithinResources([&] { return work_(item); });
    if (result.ok()) {
      done_.fetch_add(*result, std::memory_order_relaxed);
      return true;
    }
    next_.store(num_items_, std::memory_order_relaxed);
    const MutexLock lock(&mu_);
    if (item < failed_item_) {
      failed_item_ = item;
      failure_ = result.status();
    }
    return false;
  }

  int64_t done() const { return done_.load(std::memory_order_relaxed); }
  absl::Status failure() {
    const MutexLock lock(&mu_);
    return failure_;
  }

 private:
  const int64_t num_items_;
  const std::function<absl::StatusOr<int64_t>(int64_t)>& work_;
  std::atomic<int64_t> next_{0};
  std::atomic<int64_t> done_{0};
  Mutex mu_;
  int64_t failed_item_ ABSL_GUARDED_BY(mu_) = INT64_MAX;
  absl::Status failure_ ABSL_GUARDED_BY(mu_);
};

}  // namespace

absl::Status ForEachInParallel(int64_t num_items, Progress* progress,
                               const std::function<absl::StatusOr<int64_t>(int64_t)>& work) {
  Loop loop(num_items, work);
  const int64_t cores = NumCores();
  std::vector<std::thread> helpers;
  for (int64_t t = 1; t < std::min({cores, num_items, kMaxThreads}); ++t) {
    absl::StatusOr<std::thread> helper = StartThread([&loop] {
      while (loop.RunOne()) {
      }
    });
    if (!helper.ok()) break;  // with fewer it takes longer
    helpers.push_back(*std::move(helper));
  }
  while (loop.RunOne()) progress->Update(loop.done());
  for (std::thread& helper : helpers) helper.join();
  progress->Update(loop.done());
  return loop.failure();
}

}  // namespace vicinity
