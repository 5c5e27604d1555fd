// What the loaders of a graph are called in its metrics.
#pragma once

#include <set>
#include <string>

#include "proto/common/mutex.h"

namespace vicinity {

// "0", "1", ...: the smallest number that no loader has, so that a trainer that makes a loader for
// every epoch has no new series with each.
//
// Threads: any number.
class LoaderNames {
 public:
  std::string Take() {
    MutexLock lock(&mu_);
    int number = 0;
    while (taken_.count(number) > 0) ++number;
    taken_.insert(number);
    return std::to_string(number);
  }
  void GiveBack(const std::string& name) {
    MutexLock lock(&mu_);
    taken_.erase(std::stoi(name));
  }

 private:
  Mutex mu_;
  std::set<int> taken_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vicinity
