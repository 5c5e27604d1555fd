#include "sampler/walk_spec.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "partition/schema/schema.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity {
namespace {

WalkSpec Spec(std::vector<int32_t> metapath, int64_t length) {
  WalkSpec spec;
  spec.metapath = std::move(metapath);
  spec.length = length;
  return spec;
}

TEST_CASE("a metapath is gone along over and over", "[walk_spec]") {
  const Schema schema = testing::TypedGraph(2, 1, 1, 3).schema;
  const WalkSpec spec = Spec({1, 0}, 5);  // user, item, user, ...
  for (int64_t steps = 0; steps <= 5; ++steps) {
    CHECK(NodeTypeOfWalk(schema, spec, steps) == steps % 2);
    CHECK(EdgeTypeOfStep(spec, steps) == 1 - steps % 2);
  }
}

TEST_CASE("what is wrong with walks is named", "[walk_spec]") {
  const testing::MemoryGraph graph = testing::TypedGraph(20, 10, 5, 3);
  const Schema& schema = graph.schema;
  const auto problem = [&](const WalkSpec& spec) { return WalkProblem(schema, spec); };
  CHECK(problem(Spec({0, 1}, 6)).empty());
  CHECK(problem(Spec({0}, 1)).empty());
  CHECK(problem(Spec({}, 3)).find("no metapath") == 0);
  CHECK(problem(Spec({9}, 3)) == "metapath: edge type 9 of 5");
  CHECK(problem(Spec({3}, 0)) == "walks of 0 steps, which are 1 to 16383");
  CHECK(problem(Spec({3}, 16384)) == "walks of 16384 steps, which are 1 to 16383");
  CHECK(problem(Spec({0}, 2)) ==
        "metapath: step 1 along user:buys:item begins at item, where step 0 along user:buys:item "
        "arrives at user");
  WalkSpec spec = Spec({3}, 3);
  spec.weighted_by = "cost";
  CHECK(problem(spec) ==
        "no edge type of the metapath has the weight column cost; there are: none");
  spec.weighted_by = "";
  spec.restart_prob = GENERATE(-0.1, 1.0, std::nan(""));
  CHECK(problem(spec).find("restart_prob") == 0);
  spec.restart_prob = 0;
  spec.p = GENERATE(0.0, 65.0, -1.0, std::nan(""));
  CHECK(problem(spec).find("p ") == 0);
  spec.p = 2;
  CHECK(problem(spec).empty());
  spec.metapath = {0, 1};
  CHECK(problem(spec).find("node2vec walks follow one edge type") != std::string::npos);
}

}  // namespace
}  // namespace vicinity
