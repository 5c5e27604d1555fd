// What is wrong with the files of one shard, known to whoever reads them.
#pragma once

#include <atomic>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "proto/common/mutex.h"

namespace vicinity {

// Threads: any, all at once.
class FaultList {
 public:
  // Keeps the first text of a path.
  void Add(const std::string& path, const std::string& text);
  void Remove(const std::string& path);

  // One load: asked by every call.
  bool empty() const { return empty_.load(std::memory_order_acquire); }
  // Ok, or DataLoss with the text of one of them, the same as long as it stays.
  absl::Status status() const;

 private:
  mutable Mutex mu_;
  std::atomic<bool> empty_{true};
  std::map<std::string, std::string> texts_ ABSL_GUARDED_BY(mu_);  // by path
};

}  // namespace vicinity
