// A memory limit for processes under test.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace vicinity::testing {

// A control group of its own (version 1), whose processes the kernel ends when together they hold
// more than the limit, page cache of files that they were the first to read included.
//
// Lifetime: the destructor removes it; its processes must be gone before.
class MemoryCgroup {
 public:
  // Unavailable where the machine lets nobody make one: without root, in a sandbox, with groups of
  // version 2.
  static absl::StatusOr<std::unique_ptr<MemoryCgroup>> Create(int64_t limit_bytes);
  ~MemoryCgroup();
  MemoryCgroup(const MemoryCgroup&) = delete;
  MemoryCgroup& operator=(const MemoryCgroup&) = delete;

  // With all its threads; what it holds already counts for where it was.
  absl::Status Add(int pid);

  int64_t most_bytes() const;  // that its processes have held together
  int64_t killed() const;      // processes, for want of memory

 private:
  explicit MemoryCgroup(std::string folder) : folder_(std::move(folder)) {}
  absl::Status Write(const std::string& file, int64_t value) const;

  const std::string folder_;
};

}  // namespace vicinity::testing
