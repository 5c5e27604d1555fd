#include "cache/policies/oracle.h"

#include <memory>

#include "cache/policies/access_trace.h"
#include "cache/policies/policy.h"
#include "cache/policies/static_order.h"

namespace vicinity {

std::unique_ptr<Policy> MakeOraclePolicy(const AccessTrace& trace) {
  return std::make_unique<StaticOrder>("oracle", OrderByScore(trace.CountUses()));
}

}  // namespace vicinity
