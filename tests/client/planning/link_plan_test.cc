#include "client/planning/link_plan.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "cache/vip/seed_chances.h"
#include "partition/dataset/dataset.h"
#include "proto/common/ids.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using Links = std::vector<std::pair<int64_t, int64_t>>;

class Fixture {
 public:
  explicit Fixture(const testing::MemoryGraph& graph) {
    VICINITY_REQUIRE_OK(WriteGraph(graph, Shuffled(graph, 4, 3), folder_.File("d")));
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset_, Dataset::Open(folder_.File("d")));
  }
  const Dataset& dataset() const { return *dataset_; }

  // The links to nodes of some shards, in the order of their targets.
  Links LinksTo(EdgeTypeId type, const std::vector<int32_t>& shards) const {
    Links links;
    const NodeTypeId target{dataset_->schema().edge_types[type.value].target_type};
    for (const int32_t shard : shards) {
      const EdgeTable& edges = dataset_->shards()[shard]->edges(type);
      for (int64_t row = 0; row < edges.num_targets(); ++row) {
        for (int64_t i = edges.begin(row); i < edges.begin(row + 1); ++i) {
          links.emplace_back(edges.sources[i],
                             dataset_->book().First(target, ShardId{shard}).value + row);
        }
      }
    }
    return links;
  }

 private:
  const testing::TempDir folder_;
  std::unique_ptr<Dataset> dataset_;
};

TEST_CASE("a home's links are those to its shards, each end counted", "[cli]") {
  const Fixture fixture(testing::TypedGraph(60, 40, 5, 1));
  const char* const relation = GENERATE("knows", "buys");
  const EdgeTypeId type{fixture.dataset().schema().FindEdgeType(relation)};
  const NodeTypeId source_type{fixture.dataset().schema().edge_types[type.value].source_type};
  const NodeTypeId target_type{fixture.dataset().schema().edge_types[type.value].target_type};
  const std::vector<int32_t> home_of = {0, -1, 1, 0};
  std::vector<int32_t> home_of_target;
  for (int32_t shard = 0; shard < 4; ++shard) {
    home_of_target.insert(home_of_target.end(),
                          fixture.dataset().book().num_nodes(target_type, ShardId{shard}),
                          home_of[shard]);
  }
  const std::vector<LinkSeeds> found = LinksOfHomes(fixture.dataset(), type, home_of_target, 2);
  REQUIRE(found.size() == 2);
  const std::vector<std::vector<int32_t>> shards = {{0, 3}, {2}};
  for (int home = 0; home < 2; ++home) {
    std::vector<int64_t> sources, targets;
    for (const auto& [source, target] : fixture.LinksTo(type, shards[home])) {
      sources.push_back(source);
      targets.push_back(target);
    }
    const LinkSeeds expected = CountEnds(source_type, sources, target_type, targets);
    CHECK(found[home].num_links == expected.num_links);
    REQUIRE(found[home].ends.size() == expected.ends.size());
    for (size_t i = 0; i < expected.ends.size(); ++i) {
      CHECK(found[home].ends[i].type == expected.ends[i].type);
      CHECK(found[home].ends[i].nodes == expected.ends[i].nodes);
      CHECK(found[home].ends[i].counts == expected.ends[i].counts);
    }
  }
}

TEST_CASE("links are found by number", "[cli]") {
  const Fixture fixture(testing::TypedGraph(60, 40, 5, 1));
  const EdgeTypeId type{fixture.dataset().schema().FindEdgeType("buys")};
  const std::vector<int32_t> shards = {1, 3};
  const LinkIndex index(fixture.dataset(), type, shards);
  const Links expected = fixture.LinksTo(type, shards);
  REQUIRE(index.num_links() == static_cast<int64_t>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) {
    CHECK(index.EndsOf(static_cast<int64_t>(i)) == expected[i]);
  }
}

}  // namespace
}  // namespace vicinity
