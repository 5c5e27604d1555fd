// What decides which rows a trainer holds, as something to count with: how many rows would be
// fetched over some epochs, by that rule, with that much memory. One policy a file.
//
// Memory is counted the same way for all: rows held, those of batches in flight included.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cache/policies/access_trace.h"

namespace vicinity {

struct PolicyBudget {
  // In memory, those of batches in flight among them. Where these alone are more, all of theirs.
  int64_t total_rows = 0;
  // Batches in flight, at least 1: whose rows are fetched, or on their way, and not released.
  int depth = 1;

  // Nothing below 0, depth at least 1; InvalidArgument with the value otherwise.
  absl::Status Validate() const;
};

struct PolicyCount {
  int64_t used = 0;     // rows that batches asked for
  int64_t fetched = 0;  // of them
  // Rows in memory, those of batches in flight among them: on average while as many batches as can
  // be are in flight (of a pool, which is always full: its capacity), and the most at any time.
  double held = 0;
  int64_t most_held = 0;
};

// Threads: immutable; any number may count at once.
class Policy {
 public:
  virtual ~Policy() = default;
  virtual std::string name() const = 0;
  // InvalidArgument for a budget that is no budget.
  virtual absl::StatusOr<PolicyCount> Count(const AccessTrace& trace,
                                            const PolicyBudget& budget) const = 0;
};

}  // namespace vicinity
