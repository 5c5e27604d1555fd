#include "cache/pool/likelihood_classes.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

namespace vicinity {
namespace {

TEST_CASE("a few ranked nodes have a class each, in order", "[likelihood_classes]") {
  const std::vector<int64_t> ranked = {40, 7, int64_t{1} << 50, 0, 3};
  const LikelihoodClasses classes(ranked);
  for (size_t i = 1; i < ranked.size(); ++i) {
    CHECK(classes.ClassOf(ranked[i - 1]) < classes.ClassOf(ranked[i]));
  }
  CHECK(classes.ClassOf(40) == 0);
  CHECK(classes.ClassOf(3) < LikelihoodClasses::kUnranked);
  CHECK(classes.ClassOf(41) == LikelihoodClasses::kUnranked);
}

TEST_CASE("many ranked nodes fill the classes evenly", "[likelihood_classes]") {
  constexpr int64_t kNumNodes = 200000;
  std::vector<int64_t> ranked(kNumNodes);
  for (int64_t i = 0; i < kNumNodes; ++i) ranked[i] = (i * 7919) % 1000003;
  const LikelihoodClasses classes(ranked);
  std::vector<int> sizes(LikelihoodClasses::kNumClasses);
  for (int64_t i = 0; i < kNumNodes; ++i) {
    REQUIRE(classes.ClassOf(ranked[i]) == i * LikelihoodClasses::kUnranked / kNumNodes);
    ++sizes[classes.ClassOf(ranked[i])];
  }
  for (int i = 0; i < LikelihoodClasses::kUnranked; ++i) {
    REQUIRE(sizes[i] >= 195);
    REQUIRE(sizes[i] <= 196);
  }
  CHECK(sizes[LikelihoodClasses::kUnranked] == 0);
}

TEST_CASE("without a ranking all nodes are in one class", "[likelihood_classes]") {
  const LikelihoodClasses classes({});
  CHECK(classes.ClassOf(0) == LikelihoodClasses::kUnranked);
  CHECK(classes.ClassOf(int64_t{1} << 40) == LikelihoodClasses::kUnranked);
}

}  // namespace
}  // namespace vicinity
