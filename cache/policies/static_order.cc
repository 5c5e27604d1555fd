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

// `num_staged`: rows in memory beside the cache, after each batch was admitted. The mean is over
// the time when the pipeline is full.
void SumUp(int64_t num_cached, int depth, absl::Span<const int64_t> num_staged,
           PolicyCount* count) {
  count->held = static_cast<double>(num_cached);
  count->most_held = num_cached;
  if (num_staged.empty()) return;
  const auto full = num_staged.subspan(std::min<size_t>(num_staged.size(), depth) - 1);
  count->held += std::accumulate(full.begin(), full.end(), 0.0) / static_cast<double>(full.size());
  count->most_held += *std::max_element(num_staged.begin(), num_staged.end());
}

PolicyCount CountOwn(const AccessTrace& trace, absl::Span<const int64_t> cached, int depth) {
  const std::vector<char> is_cached = CachedNodes(trace, cached);
  PolicyCount count;
  count.used = trace.num_uses();
  std::vector<int64_t> fetched;  // by batch
  for (int64_t b = 0; b < trace.num_batches(); ++b) {
    fetched.push_back(0);
    for (const int64_t node : trace.batch(b)) fetched[b] += is_cached[node] == 0;
    count.fetched += fetched[b];
  }
  std::vector<int64_t> staged;
  for (int64_t b = 0; b < trace.num_batches(); ++b) {
    const auto first = fetched.begin() + std::max<int64_t>(0, b + 1 - depth);
    staged.push_back(std::accumulate(first, fetched.begin() + b + 1, int64_t{0}));
  }
  SumUp(static_cast<int64_t>(cached.size()), depth, staged, &count);
  return count;
}

PolicyCount CountShared(const AccessTrace& trace, absl::Span<const int64_t> cached, int depth) {
  const std::vector<char> is_cached = CachedNodes(trace, cached);
  std::vector<int64_t> last_batch(trace.num_nodes(), -depth);
  PolicyCount count;
  count.used = trace.num_uses();
  std::vector<int64_t> num_staged;
  int64_t staged = 0;  // distinct rows that the batches in flight have beside the cache
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
    num_staged.push_back(staged);
  }
  SumUp(static_cast<int64_t>(cached.size()), depth, num_staged, &count);
  return count;
}

}  // namespace

StaticOrder::StaticOrder(std::string name, std::vector<int64_t> order, InFlight in_flight)
    : name_(std::move(name)), order_(std::move(order)), in_flight_(in_flight) {}

absl::StatusOr<PolicyCount> StaticOrder::Count(const AccessTrace& trace,
                                               const PolicyBudget& budget) const {
  VICINITY_RETURN_IF_ERROR(budget.Validate());
  const auto cached = absl::MakeConstSpan(order_).subspan(0, budget.cache_rows);
  return in_flight_ == InFlight::kOwn ? CountOwn(trace, cached, budget.depth)
                                      : CountShared(trace, cached, budget.depth);
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
