// What the threads of this process wait for that is neither a call nor a client: cores and disks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "proto/common/mutex.h"

namespace vicinity {

// Read from /proc. `root` is the folder that /proc lies in: "" but for tests.
//
// Threads: any number. Cost: two small files for each thread of the process.
class ThreadWaits {
 public:
  explicit ThreadWaits(std::string root = "") : root_(std::move(root)) {}

  // Seconds that threads were ready to run and had no core, of all threads that were there at one
  // of the calls; only rises. 0 where the kernel does not tell.
  double CpuSeconds();
  // Threads that wait for a disk now, as for a page of a mapped file that is not in memory.
  int OnDisk() const;

 private:
  const std::string root_;
  Mutex mu_;
  // By thread, what it had waited at the last call.
  std::map<std::string, int64_t> nanoseconds_ ABSL_GUARDED_BY(mu_);
  int64_t total_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace vicinity
