#include "cache/policies/replay.h"

#include <algorithm>
#include <cstdint>
#include <deque>

#include "absl/status/statusor.h"
#include "cache/policies/access_trace.h"
#include "cache/policies/policy.h"
#include "cache/pool/look_ahead_planner.h"
#include "proto/common/status.h"

namespace vicinity {

absl::StatusOr<PolicyCount> Replay(const AccessTrace& trace, int depth, int64_t window,
                                   LookAheadPlanner* planner) {
  const int64_t num_batches = trace.num_batches();
  const int64_t ahead = std::min(num_batches, window);
  PolicyCount count;
  count.used = trace.num_uses();
  RowPlan plan;
  std::deque<int64_t> in_flight;  // tickets
  int64_t num_announced = 0;
  for (int64_t b = 0; b < num_batches; ++b) {
    if (static_cast<int64_t>(in_flight.size()) == depth) {
      planner->Release(in_flight.front());
      in_flight.pop_front();
    }
    for (; num_announced < std::min(num_batches, b + ahead + 1); ++num_announced) {
      VICINITY_RETURN_IF_ERROR(planner->Announce(trace.batch(num_announced)));
    }
    VICINITY_RETURN_IF_ERROR(planner->Admit(trace.batch(b), &plan));
    in_flight.push_back(plan.ticket);
    count.fetched += static_cast<int64_t>(plan.missing.size());
  }
  for (const int64_t ticket : in_flight) planner->Release(ticket);
  count.most_held = planner->most_held_rows();
  count.held = static_cast<double>(std::min(count.most_held, planner->capacity_rows()));
  return count;
}

}  // namespace vicinity
