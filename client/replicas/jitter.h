// Random parts of waits, so that clients that failed together do not come back together.
#pragma once

#include <chrono>
#include <cstdint>

#include "proto/common/mutex.h"
#include "proto/common/random.h"

namespace vicinity {

// Threads: any number. The same seed and the same calls give the same waits.
class Jitter {
 public:
  explicit Jitter(uint64_t seed) : draws_(seed, 0) {}

  // Uniform over [0, most].
  std::chrono::nanoseconds UpTo(std::chrono::nanoseconds most) {
    if (most.count() <= 0) return std::chrono::nanoseconds(0);
    MutexLock lock(&mu_);
    return std::chrono::nanoseconds(draws_.Below(static_cast<uint64_t>(most.count()) + 1));
  }

 private:
  Mutex mu_;
  NodeDraws draws_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vicinity
