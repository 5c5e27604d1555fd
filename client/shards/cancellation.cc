#include "client/shards/cancellation.h"

#include <utility>

namespace vicinity {

void Cancellation::Cancel() {
  std::unordered_map<int64_t, std::function<void()>> handlers;
  {
    MutexLock lock(&mu_);
    cancelled_.store(true, std::memory_order_release);
    handlers.swap(handlers_);
  }
  // Outside the lock: a handler may end an operation whose last step is Remove.
  for (auto& [id, handler] : handlers) handler();
}

int64_t Cancellation::Add(std::function<void()> on_cancel) {
  {
    MutexLock lock(&mu_);
    if (!cancelled()) {
      handlers_.emplace(next_id_, std::move(on_cancel));
      return next_id_++;
    }
  }
  on_cancel();
  return -1;
}

void Cancellation::Remove(int64_t id) {
  MutexLock lock(&mu_);
  handlers_.erase(id);
}

}  // namespace vicinity
