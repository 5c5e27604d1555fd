// Runs a program as a child and survives whatever happens to it: foreign code that may crash, or
// take for ever, works there.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace vicinity {

struct ChildOptions {
  std::string program;  // path
  std::vector<std::string> arguments;
  std::string log_path;  // created; receives what the child prints
  absl::Duration time_limit = absl::Hours(1);
  // Called a few times a second while the child runs.
  std::function<void(absl::Duration elapsed)> on_tick;
};

struct ChildUsage {
  absl::Duration elapsed;
  int64_t peak_memory_bytes = 0;  // resident, mapped files included
};

// Starts the program and waits until it has ended well (exit status 0). Else no process is left,
// and: the error of the system if it cannot be started (NotFound, PermissionDenied, ...); Aborted
// naming the signal or exit status, with the end of what it printed; DeadlineExceeded if it was
// killed at the time limit. The child dies with its parent.
//
// Threads: any number may call; the caller's other threads may hold locks meanwhile.
absl::StatusOr<ChildUsage> RunChild(const ChildOptions& options);

}  // namespace vicinity
