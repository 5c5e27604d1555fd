#include "sampler/proximity/ppr_spec.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "partition/schema/schema.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity {
namespace {

// Types user, item, tag; relations buys, bought_by, has, knows, of.
const Schema& Typed() {
  static const Schema* const schema = new Schema(testing::TypedGraph(20, 10, 5, 3).schema);
  return *schema;
}

std::string Problem(const PprSpec& spec, int32_t seed_type = 0, int64_t num_seeds = 3) {
  return PprProblem(Typed(), spec, seed_type, num_seeds);
}

PprSpec Spec() {
  PprSpec spec;
  spec.top = 5;
  return spec;
}

TEST_CASE("without edge types all are followed, else those named, in their order", "[ppr_spec]") {
  PprSpec spec = Spec();
  CHECK(FollowedTypes(Typed(), spec) == std::vector<int32_t>{0, 1, 2, 3, 4});
  spec.edge_types = {3, 1};
  CHECK(FollowedTypes(Typed(), spec) == std::vector<int32_t>{3, 1});
}

TEST_CASE("a spec that fits has no problem", "[ppr_spec]") {
  PprSpec spec = Spec();
  CHECK(Problem(spec).empty());
  CHECK(Problem(spec, 0, 0).empty());
  spec.edge_types = {1};  // of users the items
  spec.node_type = 1;
  spec.eps = 1;
  spec.max_neighbors = 1;
  CHECK(Problem(spec).empty());
}

TEST_CASE("numbers out of range are named", "[ppr_spec]") {
  PprSpec spec = Spec();
  spec.alpha = GENERATE(0.0, 1.0, -0.5, std::nan(""));
  CHECK(Problem(spec).find("alpha ") == 0);
  spec = Spec();
  spec.eps = GENERATE(0.0, 1.5, -1e-3, std::nan(""));
  CHECK(Problem(spec).find("eps ") == 0);
  spec = Spec();
  spec.eps = 1e-8;
  CHECK(Problem(spec) ==
        "alpha 0.15 x eps 1e-08 is below 1e-07: a seed could need more edges than memory has room "
        "for");
  spec = Spec();
  spec.max_neighbors = GENERATE(int64_t{0}, int64_t{-2}, int64_t{1 << 21});
  CHECK(Problem(spec).find("max_neighbors ") == 0);
  spec = Spec();
  spec.top = 0;
  CHECK(Problem(spec) == "the 0 highest scores: at least 1");
  spec.top = 1 << 20;
  CHECK(Problem(spec, 0, 128).empty());
  CHECK(Problem(spec, 0, 129).find("ask for fewer seeds") != std::string::npos);
}

TEST_CASE("types that do not fit are named", "[ppr_spec]") {
  PprSpec spec = Spec();
  spec.node_type = 3;
  CHECK(Problem(spec) == "node type 3 of 3");
  spec.node_type = -2;
  CHECK(Problem(spec) == "node type -2 of 3");
  spec.node_type = 2;
  spec.edge_types = {0, 1};
  CHECK(Problem(spec) == "no edge type that is followed comes from nodes of type tag");
  spec.node_type = -1;
  CHECK(Problem(spec, 2) == "no edge type that is followed leads to seeds, which are of type tag");
  spec.edge_types = {0, 5};
  CHECK(Problem(spec) == "edge type 5 of 5");
  spec.edge_types = {0, 3};
  spec.weighted_by = "weight";
  CHECK(Problem(spec).empty());
  CHECK(IsWeighted(Typed(), spec, 0));
  CHECK_FALSE(IsWeighted(Typed(), spec, 3));
  spec.weighted_by = "cost";
  CHECK(Problem(spec) ==
        "no edge type that is followed has the weight column cost; there are: weight of "
        "user:buys:item");
  spec.edge_types = {3};
  CHECK(Problem(spec) ==
        "no edge type that is followed has the weight column cost; there are: none");
  spec = Spec();
  spec.edge_types = {1, 0, 1};
  CHECK(Problem(spec) == "edge type item:bought_by:user is named twice");
}

}  // namespace
}  // namespace vicinity
