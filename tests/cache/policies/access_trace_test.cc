#include "cache/policies/access_trace.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

namespace vicinity {
namespace {

TEST_CASE("a trace gives back what was added", "[access_trace]") {
  AccessTrace trace(6);
  trace.AddBatch({4, 1});
  trace.AddBatch({});
  trace.EndEpoch();
  trace.AddBatch({1, 5, 0});
  trace.EndEpoch();
  CHECK(trace.num_nodes() == 6);
  CHECK(trace.num_epochs() == 2);
  REQUIRE(trace.num_batches() == 3);
  CHECK(trace.num_uses() == 5);
  const auto batch = [&](int64_t i) {
    return std::vector<int64_t>(trace.batch(i).begin(), trace.batch(i).end());
  };
  CHECK(batch(0) == std::vector<int64_t>{4, 1});
  CHECK(batch(1).empty());
  CHECK(batch(2) == std::vector<int64_t>{1, 5, 0});
  CHECK(trace.CountUses() == std::vector<double>{1, 2, 0, 0, 1, 1});
}

}  // namespace
}  // namespace vicinity
