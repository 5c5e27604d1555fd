#include "cache/policies/none.h"

#include <cstdint>
#include <memory>
#include <vector>

#include "cache/policies/policy.h"
#include "cache/policies/static_order.h"

namespace vicinity {

std::unique_ptr<Policy> MakeNoPolicy() {
  return std::make_unique<StaticOrder>("none", std::vector<int64_t>());
}

}  // namespace vicinity
