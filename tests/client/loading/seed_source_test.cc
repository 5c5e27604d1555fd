#include "client/loading/seed_source.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/shards/lookups.h"
#include "client/types/loader_values.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using testing::RoutedGraph;

TEST_CASE("the seed type is named, or the only one with splits", "[seed_source]") {
  const testing::MemoryGraph typed = testing::TypedGraph(100, 60, 10, 3);
  std::string name;
  VICINITY_ASSERT_OK_AND_ASSIGN(const NodeTypeId found, FindSeedType(typed.schema, name));
  CHECK(found.value == 0);
  name = "tag";
  VICINITY_ASSERT_OK_AND_ASSIGN(const NodeTypeId tag, FindSeedType(typed.schema, name));
  CHECK(tag.value == 2);
  name = "author";
  VICINITY_CHECK_CODE(FindSeedType(typed.schema, name).status(), absl::StatusCode::kNotFound);
  name = "";
  Schema two = typed.schema;
  two.node_types[1].split_column = "split";
  VICINITY_CHECK_CODE(FindSeedType(two, name).status(), absl::StatusCode::kInvalidArgument);
}

TEST_CASE("seeds of a split are those of the shards that are asked for", "[seed_source]") {
  const RoutedGraph graph(testing::TypedGraph(200, 60, 10, 3), 4);
  LoaderOptions options;
  options.split = Split::kValidation;
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<SeedSource> source,
                                MakeSeedSource(graph.router(), options));
  VICINITY_ASSERT_OK_AND_ASSIGN(std::vector<int64_t> all, source->Seeds({}));
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const std::vector<int64_t> expected,
      NodesOfSplit(graph.router(), source->types().front(), Split::kValidation, {}));
  CHECK(all == expected);
  std::vector<int64_t> of_shards;
  for (int32_t shard = 0; shard < 4; ++shard) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<int64_t> owned, source->Seeds({shard}));
    of_shards.insert(of_shards.end(), owned.begin(), owned.end());
  }
  std::sort(all.begin(), all.end());
  std::sort(of_shards.begin(), of_shards.end());
  CHECK(of_shards == all);
}

TEST_CASE("listed nodes are seeds in the user's order, whichever shard owns them",
          "[seed_source]") {
  const RoutedGraph graph(testing::TypedGraph(200, 60, 10, 3), 4);
  LoaderOptions options;
  options.seed_type = "item";
  const std::vector<int64_t> listed = {59, 0, 17, 17, 4};
  options.seeds = GlobalIds{listed};
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<SeedSource> source,
                                MakeSeedSource(graph.router(), options));
  CHECK(source->types() == std::vector<NodeTypeId>{{1}});
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<int64_t> all, source->Seeds({}));
  CHECK(all == listed);
  const auto owner = [&](int64_t node) {
    return graph.router().book().OwnerOf(source->types().front(), GlobalNode{node}).value;
  };
  std::vector<int64_t> expected;
  std::copy_if(all.begin(), all.end(), std::back_inserter(expected),
               [&](int64_t node) { return owner(node) == owner(17); });
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::vector<int64_t> owned, source->Seeds({owner(17)}));
  CHECK(owned == expected);
  CHECK(owned.size() >= 2);
}

TEST_CASE("an empty list is no split", "[seed_source]") {
  const RoutedGraph graph(testing::TypedGraph(200, 60, 10, 3), 2);
  LoaderOptions options;
  options.seeds = GlobalIds();
  VICINITY_CHECK_CODE(MakeSeedSource(graph.router(), options).status(),
                      absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity
