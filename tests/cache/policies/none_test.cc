#include "cache/policies/none.h"

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "cache/policies/access_trace.h"
#include "cache/policies/policy.h"
#include "tests/cache/policies/policy_oracles.h"

namespace vicinity {
namespace {

TEST_CASE("without a cache every row is fetched", "[policies]") {
  const AccessTrace trace = testing::RandomTrace(std::vector<double>(30, 0.3), 20, 1);
  const std::unique_ptr<Policy> none = MakeNoPolicy();
  CHECK(none->name() == "none");
  testing::CheckStaticOrder(*none, {});
}

}  // namespace
}  // namespace vicinity
