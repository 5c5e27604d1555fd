// A static cache: the first rows of an order, filled once, never changed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cache/policies/policy.h"

namespace vicinity {

// What the batches in flight miss is in memory beside it, once for all of them. Of a budget it gets
// as many rows as leave room for that on average: the peaks, which are higher, are forgiven it.
class StaticOrder : public Policy {
 public:
  // `order`: nodes, best first, none twice.
  StaticOrder(std::string name, std::vector<int64_t> order);

  std::string name() const override { return name_; }
  absl::Span<const int64_t> order() const { return order_; }
  absl::StatusOr<PolicyCount> Count(const AccessTrace& trace,
                                    const PolicyBudget& budget) const override;

  // With this many of the rows held for good.
  PolicyCount CountWith(const AccessTrace& trace, int64_t num_held, int depth) const;

 private:
  int64_t MostThatFit(const AccessTrace& trace, const PolicyBudget& budget) const;

  const std::string name_;
  const std::vector<int64_t> order_;
};

// The nodes with a score above 0, the highest first, equal ones by number.
std::vector<int64_t> OrderByScore(absl::Span<const double> scores);

}  // namespace vicinity
