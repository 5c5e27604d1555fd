#include "client/planning/query_formula.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "client/query/query_steps.h"
#include "client/query/query_text.h"
#include "partition/schema/sampling_spec.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using Fanouts = std::vector<std::vector<int64_t>>;

SamplingSpec Like(const std::string& text) {
  const Schema schema = testing::TypedGraph(10, 10, 4, 1).schema;
  VICINITY_ASSERT_OK_AND_ASSIGN(const Query query, ParseQuery(text));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<ResolvedStep> steps, ResolveQuery(schema, query));
  const SamplingSpec spec = MinibatchesLike(schema, steps, 16);
  CHECK(SpecProblem(schema, spec).empty());
  CHECK(spec.expansion == Expansion::kNewNodes);
  return spec;
}

// Of edge types in their order: user:buys:item, item:bought_by:user, item:has:tag, user:knows:user,
// tag:of:user.
TEST_CASE("hops follow what steps follow at their distance from the seeds", "[planning]") {
  const std::string src = "src = nodes(user, $seeds); ";
  CHECK(Like(src + "w = walk(src, user:knows:user, 3)").fanouts ==
        Fanouts{{0, 0, 0, 1, 0}, {0, 0, 0, 1, 0}, {0, 0, 0, 1, 0}});
  CHECK(Like(src + "w = walk(src, [item:bought_by:user, user:buys:item], 3, node_type=item)")
            .fanouts == Fanouts{{0, 1, 0, 0, 0}, {1, 0, 0, 0, 0}, {0, 1, 0, 0, 0}});
  CHECK(Like(src + "w = walk(src, user:knows:user, 100)").fanouts ==
        Fanouts(kMaxHops, {0, 0, 0, 1, 0}));
  CHECK(Like(src + "v = visited(src, user:knows:user, 5, length=2, num_walks=20)").fanouts ==
        Fanouts{{0, 0, 0, 5, 0}, {0, 0, 0, 1, 0}});
  CHECK(Like(src + "a = neighbors(src, user:knows:user, 4); b = neighbors(a, user:knows:user)")
            .fanouts == Fanouts{{0, 0, 0, 4, 0}, {0, 0, 0, kAllNeighbors, 0}});
  // Two steps from the same nodes are two ways of one hop.
  CHECK(Like(src + "a = neighbors(src, user:knows:user, 4); b = walk(src, user:knows:user, 1)")
            .fanouts == Fanouts{{0, 0, 0, 5, 0}});
  // 64 for 16 targets together.
  CHECK(Like(src + "a = layer(src, item:bought_by:user, 64); b = layer(a, user:buys:item, 3)")
            .fanouts == Fanouts{{0, 4, 0, 0, 0}, {1, 0, 0, 0, 0}});
  CHECK(Like(src + "p = ppr(src, user:knows:user, 6)").fanouts ==
        Fanouts{{0, 0, 0, 6, 0}, {0, 0, 0, 1, 0}, {0, 0, 0, 1, 0}});
}

TEST_CASE("of what goes along no edges from the seeds the formula says next to nothing",
          "[planning]") {
  const Fanouts one_hop = {{1, 1, 1, 1, 1}};
  CHECK(Like("src = nodes(user, $seeds); all = nodes(user, count=9)").fanouts == one_hop);
  CHECK(Like("src = nodes(user, $seeds); n = negatives(src, user:knows:user, 4)").fanouts ==
        one_hop);
  CHECK(Like("src = nodes(user, $seeds); all = nodes(user, count=9); "
             "far = neighbors(all, user:knows:user, 2)")
            .fanouts == one_hop);
}

TEST_CASE("the formula goes by the weights that steps go by", "[planning]") {
  CHECK(Like("src = nodes(item, $seeds); w = walk(src, user:buys:item, 1, node_type=user, "
             "weighted_by=weight)")
            .weighted_by == "weight");
  CHECK(
      Like("src = nodes(item, $seeds); l = layer(src, user:buys:item, 9, by=weight)").weighted_by ==
      "weight");
  CHECK(Like("src = nodes(item, $seeds); l = layer(src, user:buys:item, 9)").weighted_by.empty());
}

}  // namespace
}  // namespace vicinity
