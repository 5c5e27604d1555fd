#include "cache/policies/static_order.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cache/policies/access_trace.h"
#include "cache/policies/policy.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

std::vector<char> CachedNodes(const AccessTrace& trace, absl::Span<const int64_t> cached) {
  std::vector<char> is_cached(trace.num_nodes());
  for (const int64_t node : cached) is_cached[node] = 1;
  return is_cached;
}

// The first moment, counted by the batch admitted last, when as many batches as can be are in
// flight.
int64_t FirstFull(const AccessTrace& trace, int depth) {
  return std::min<int64_t>(trace.num_batches(), depth) - 1;
}

// By node, if it is not held for good: at how many of the full moments it is in memory.
std::vector<int64_t> MomentsStaged(const AccessTrace& trace, int depth) {
  std::vector<int64_t> moments(trace.num_nodes(), 0);
  std::vector<int64_t> gone(trace.num_nodes(), 0);  // the moment when it is there no more
  for (int64_t b = 0; b < trace.num_batches(); ++b) {
    const int64_t end = std::min(b + depth, trace.num_batches());
    for (const int64_t node : trace.batch(b)) {
      const int64_t begin = std::max({b, gone[node], FirstFull(trace, depth)});
      moments[node] += std::max<int64_t>(0, end - begin);
      gone[node] = end;
    }
  }
  return moments;
}

}  // namespace

StaticOrder::StaticOrder(std::string name, std::vector<int64_t> order)
    : name_(std::move(name)), order_(std::move(order)) {}

absl::StatusOr<PolicyCount> StaticOrder::Count(const AccessTrace& trace,
                                               const PolicyBudget& budget) const {
  VICINITY_RETURN_IF_ERROR(budget.Validate());
  return CountWith(trace, MostThatFit(trace, budget), budget.depth);
}

// A row more that is held is at most one less beside: what is in memory never falls, so the first
// that does not fit ends it.
int64_t StaticOrder::MostThatFit(const AccessTrace& trace, const PolicyBudget& budget) const {
  if (trace.num_batches() == 0) return std::min<int64_t>(budget.total_rows, order_.size());
  const std::vector<int64_t> moments = MomentsStaged(trace, budget.depth);
  const int64_t num_moments = trace.num_batches() - FirstFull(trace, budget.depth);
  int64_t staged = std::accumulate(moments.begin(), moments.end(), int64_t{0});
  int64_t num_held = 0;
  for (const int64_t node : order_) {
    staged -= moments[node];
    if ((num_held + 1) * num_moments + staged > budget.total_rows * num_moments) break;
    ++num_held;
  }
  return num_held;
}

PolicyCount StaticOrder::CountWith(const AccessTrace& trace, int64_t num_held, int depth) const {
  const auto cached = absl::MakeConstSpan(order_).subspan(0, num_held);
  const std::vector<char> is_cached = CachedNodes(trace, cached);
  std::vector<int64_t> last_batch(trace.num_nodes(), -depth);
  PolicyCount count;
  count.used = trace.num_uses();
  int64_t staged = 0;  // distinct rows that the batches in flight have beside the cache
  int64_t most_staged = 0;
  int64_t sum_staged = 0;  // over the moments that are full
  for (int64_t b = 0; b < trace.num_batches(); ++b) {
    if (b >= depth) {
      for (const int64_t node : trace.batch(b - depth)) staged -= last_batch[node] == b - depth;
    }
    for (const int64_t node : trace.batch(b)) {
      if (is_cached[node] != 0) continue;
      const bool is_there = last_batch[node] > b - depth;
      count.fetched += !is_there;
      staged += !is_there;
      last_batch[node] = b;
    }
    most_staged = std::max(most_staged, staged);
    if (b >= FirstFull(trace, depth)) sum_staged += staged;
  }
  const auto num_cached = static_cast<int64_t>(cached.size());
  const int64_t num_moments = std::max<int64_t>(1, trace.num_batches() - FirstFull(trace, depth));
  count.held = static_cast<double>(num_cached) +
               static_cast<double>(sum_staged) / static_cast<double>(num_moments);
  count.most_held = num_cached + most_staged;
  return count;
}

std::vector<int64_t> OrderByScore(absl::Span<const double> scores) {
  std::vector<int64_t> order;
  for (size_t node = 0; node < scores.size(); ++node) {
    if (scores[node] > 0) order.push_back(static_cast<int64_t>(node));
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
  return order;
}

}  // namespace vicinity
