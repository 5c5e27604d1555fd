#include "cache/policies/simulated_frequency.h"

#include <memory>

#include "cache/policies/access_trace.h"
#include "cache/policies/static_order.h"

namespace vicinity {

std::unique_ptr<StaticOrder> MakeSimulatedFrequencyPolicy(const AccessTrace& simulated) {
  return std::make_unique<StaticOrder>("simulated-frequency", OrderByScore(simulated.CountUses()));
}

}  // namespace vicinity
