#include "cache/vip/edge_bundles.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <tuple>
#include <vector>

#include "absl/types/span.h"
#include "cache/vip/edge_weights.h"
#include "partition/dataset/base_views.h"
#include "partition/dataset/shard.h"
#include "partition/schema/schema.h"

namespace vicinity {
namespace {

using Parts = std::vector<std::tuple<int64_t, int32_t, double>>;

Parts PartsOf(const EdgeBundles& bundles) {
  Parts parts;
  for (const EdgeBundles::Part& part : bundles.parts()) {
    parts.emplace_back(part.neighbor, part.list, part.amount);
  }
  return parts;
}

// Lists of two nodes.
struct Lists {
  std::vector<uint64_t> offsets;
  std::vector<uint32_t> sources;

  EdgeTable Table() const {
    EdgeTable table;
    table.offsets = offsets;
    table.sources = IdArray(absl::MakeConstSpan(sources));
    return table;
  }
};

TEST_CASE("parallel edges make one part, and parts of a neighbour lie together", "[bundles]") {
  const Lists a{{0, 1, 6}, {9, 7, 7, 2, 5, 5}};
  const Lists b{{0, 0, 3}, {3, 5, 2}};
  EdgeBundles bundles;
  bundles.Add(BaseLists(a.Table()), EdgeWeights(), 1);
  bundles.Join();
  CHECK(PartsOf(bundles) == Parts{{7, 0, 2}, {2, 0, 1}, {5, 0, 2}});
  bundles.Add(BaseLists(b.Table()), EdgeWeights(), 1);
  bundles.Join();
  CHECK(PartsOf(bundles) ==
        Parts{{2, 0, 1}, {2, 1, 1}, {3, 1, 1}, {5, 0, 2}, {5, 1, 1}, {7, 0, 2}});
  bundles.Clear();
  bundles.Add(BaseLists(b.Table()), EdgeWeights(), 0);  // empty
  bundles.Add(BaseLists(a.Table()), EdgeWeights(), 0);
  bundles.Join();
  CHECK(PartsOf(bundles) == Parts{{9, 1, 1}});
}

TEST_CASE("weights of parallel edges add up, of either width", "[bundles]") {
  const Lists lists{{0, 2, 5}, {1, 4, 7, 7, 2}};
  const std::vector<float> narrow = {9, 9, 0.5F, 0.25F, 3};
  const std::vector<double> wide = {9, 9, 0.5, 0.25, 3};
  EdgeWeights weights;
  SECTION("float") {
    weights = EdgeWeights({reinterpret_cast<const char*>(narrow.data()), 4}, DType::kFloat32);
  }
  SECTION("double") {
    weights = EdgeWeights({reinterpret_cast<const char*>(wide.data()), 8}, DType::kFloat64);
  }
  CHECK(weights.is_given());
  EdgeBundles bundles;
  bundles.Add(BaseLists(lists.Table()), weights, 1);
  bundles.Join();
  CHECK(PartsOf(bundles) == Parts{{7, 0, 0.75}, {2, 0, 3}});
}

}  // namespace
}  // namespace vicinity
