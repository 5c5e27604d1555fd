// A static cache: the first rows of an order, filled once, never changed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cache/policies/policy.h"

namespace vicinity {

// What one batch misses is fetched for it and thrown away with it, or...
enum class InFlight : uint8_t {
  kOwn,     // each batch fetches all that it misses: one buffer a batch
  kShared,  // a row that another batch in flight has fetched is not fetched again (StaticPool)
};

class StaticOrder : public Policy {
 public:
  // `order`: nodes, best first, none twice.
  StaticOrder(std::string name, std::vector<int64_t> order, InFlight in_flight = InFlight::kOwn);

  std::string name() const override { return name_; }
  absl::Span<const int64_t> order() const { return order_; }
  absl::StatusOr<PolicyCount> Count(const AccessTrace& trace,
                                    const PolicyBudget& budget) const override;

 private:
  const std::string name_;
  const std::vector<int64_t> order_;
  const InFlight in_flight_;
};

// The nodes with a score above 0, the highest first, equal ones by number.
std::vector<int64_t> OrderByScore(absl::Span<const double> scores);

}  // namespace vicinity
