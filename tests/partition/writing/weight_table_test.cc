#include "partition/writing/weight_table.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "partition/dataset/alias_table.h"
#include "partition/dataset/shard.h"
#include "partition/schema/schema.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

// Two targets with three edges and one, of ids 10 .. 13.
template <typename Float>
struct Edges {
  std::vector<Float> weights;
  std::vector<uint64_t> offsets{0, 3, 4};
  std::vector<uint64_t> ids{10, 11, 12, 13};

  WeightedLists lists() const {
    return {offsets,
            IdArray(absl::MakeConstSpan(ids)),
            {reinterpret_cast<const char*>(weights.data()), 4, sizeof(Float)},
            sizeof(Float) == 4 ? DType::kFloat32 : DType::kFloat64};
  }
};

std::vector<uint64_t> Units(absl::Span<const AliasEntry> table) {
  std::vector<uint64_t> units;
  AliasUnits(table, &units);
  return units;
}

TEMPLATE_TEST_CASE("each list has a table of its own weights", "[weight_table]", float, double) {
  const Edges<TestType> edges = {{1, 0, 2, 5}};
  WeightTable weights(edges.lists());
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto first, weights.Make(0));
  const std::vector<uint64_t> expected = {uint64_t{1} << 32, 0, uint64_t{2} << 32};
  CHECK(Units(first) == expected);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto second, weights.Make(1));
  CHECK(Units(second) == std::vector<uint64_t>{uint64_t{1} << 32});
}

TEST_CASE("a weight that is none is refused with its edge", "[weight_table]") {
  const float bad =
      GENERATE(-1.0f, -std::numeric_limits<float>::denorm_min(),
               std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN());
  const Edges<float> edges = {{1, 1, bad, 1}};
  WeightTable weights(edges.lists());
  const auto made = weights.Make(0);
  VICINITY_CHECK_CODE(made.status(), absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(made.status().message()), Catch::Contains("edge 12"));
  VICINITY_CHECK_OK(weights.Make(1));
}

TEST_CASE("a list whose offsets are impossible has no table", "[weight_table]") {
  const Edges<float> edges = {
      {1, 1, 1, 1}, GENERATE(std::vector<uint64_t>{3, 2, 4}, std::vector<uint64_t>{0, 5, 5})};
  CHECK(edges.lists().degree(0) == 0);
  WeightTable weights(edges.lists());
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto table, weights.Make(0));
  CHECK(table.empty());
}

}  // namespace
}  // namespace vicinity
