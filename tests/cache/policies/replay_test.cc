#include "cache/policies/replay.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "cache/policies/access_trace.h"
#include "cache/policies/policy.h"
#include "cache/pool/look_ahead_planner.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

// One row that the second and the last batch need, among others that come once.
AccessTrace TwiceAmongOthers() {
  AccessTrace trace(10);
  for (const int64_t node : {1, 7, 2, 3, 4, 7}) trace.AddBatch({node});
  trace.EndEpoch();
  return trace;
}

PolicyCount Run(const AccessTrace& trace, int64_t capacity, int depth, int64_t window) {
  LookAheadPlanner::Options options;
  options.capacity_rows = capacity;
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<LookAheadPlanner> planner,
                                LookAheadPlanner::Create(options, {}));
  VICINITY_ASSERT_OK_AND_ASSIGN(const PolicyCount count,
                                Replay(trace, depth, window, planner.get()));
  CHECK(planner->num_announced() == 0);
  return count;
}

TEST_CASE("a replay sees as far ahead as its window is wide", "[policies]") {
  const AccessTrace trace = TwiceAmongOthers();
  CHECK(Run(trace, 2, 1, 0).fetched == 6);
  CHECK(Run(trace, 2, 1, 1).fetched == 6);
  CHECK(Run(trace, 2, 1, 2).fetched == 5);  // known when it would be the one to go
  CHECK(Run(trace, 2, 1, INT64_MAX).fetched == 5);
  CHECK(Run(trace, 3, 2, 0).fetched == 6);
  CHECK(Run(trace, 3, 2, 1).fetched == 5);
}

TEST_CASE("a replay holds the rows of as many batches as are in flight", "[policies]") {
  const AccessTrace trace = TwiceAmongOthers();
  CHECK(Run(trace, 0, 1, 0).most_held == 1);
  CHECK(Run(trace, 0, 3, 0).most_held == 3);
  CHECK(Run(trace, 4, 3, 0).most_held == 4);
  CHECK(Run(trace, 0, 5, 0).fetched == 5);  // both uses in flight at once
  CHECK(Run(trace, 100, 1, 0).most_held == 5);
  CHECK(Run(trace, 0, 1, 0).used == 6);
}

}  // namespace
}  // namespace vicinity
