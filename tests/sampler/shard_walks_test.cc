#include "sampler/shard_walks.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard_reader.h"
#include "proto/common/ids.h"
#include "sampler/local_sampler.h"
#include "sampler/walk_sampler.h"
#include "sampler/walk_spec.h"
#include "tests/sampler/stored_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::Stored;

struct Alone {
  explicit Alone(const testing::TempDir& dir)
      : stored(testing::RandomGraph({/*num_nodes=*/60, /*num_edges=*/200}),
               InUserOrder(testing::RandomGraph({60, 200})), dir.File("graph")),
        reader(*stored.dataset().shard({0})) {}

  absl::Status Walk(const WalkSpec& spec, const StandingWalks& standing, WalkedSteps* made) const {
    return WalkOnShard(
        stored.dataset().schema(), stored.dataset().book(), reader, spec, kDraw, standing, true,
        [] { return false; }, made);
  }

  static constexpr MinibatchDraw kDraw{1, 2, 3};
  const Stored stored;
  const ShardReader reader;
};

// More than go on together.
TEST_CASE("ten thousand walks on the only shard are whole at once", "[shard_walks]") {
  const testing::TempDir dir;
  const Alone alone(dir);
  WalkSpec spec;
  spec.metapath = {0};
  spec.length = GENERATE(3, 600);
  const size_t count = spec.length == 3 ? 10000 : 2000;
  std::vector<int64_t> starts(count);
  for (size_t i = 0; i < count; ++i) starts[i] = static_cast<int64_t>(i % 60);
  std::vector<uint32_t> walks(count);
  std::iota(walks.begin(), walks.end(), 0);
  const std::vector<uint32_t> steps(count, 0);
  const std::vector<uint64_t> rows(starts.begin(), starts.end());
  WalkedSteps made;
  VICINITY_REQUIRE_OK(alone.Walk(spec, {walks, steps, rows}, &made));
  LocalNeighborSource source(alone.stored.dataset(), Alone::kDraw);
  WalkSampler sampler(alone.stored.dataset().schema(), alone.stored.dataset().book(), Alone::kDraw,
                      &source, nullptr);
  VICINITY_ASSERT_OK_AND_ASSIGN(const Walks expected, sampler.Walk(spec, starts, true));
  std::vector<int64_t> nodes;
  std::vector<int64_t> edge_ids;
  for (size_t i = 0; i < count; ++i) {
    int64_t taken = 0;
    while (taken < spec.length && expected.edge_ids[i * spec.length + taken] >= 0) ++taken;
    REQUIRE(made.counts[i] == taken);
    for (int64_t step = 0; step < taken; ++step) {
      nodes.push_back(expected.nodes[i * (spec.length + 1) + step + 1]);
      edge_ids.push_back(expected.edge_ids[i * spec.length + step]);
    }
  }
  CHECK(made.nodes == nodes);
  CHECK(made.edge_ids == edge_ids);
}

TEST_CASE("walks that cannot stand where they are said to are refused", "[shard_walks]") {
  const testing::TempDir dir;
  const Alone alone(dir);
  WalkSpec spec;
  spec.metapath = {0};
  spec.length = 3;
  const std::vector<uint32_t> walks = {0, 5};
  const std::vector<uint64_t> rows = {0, 60};
  const std::vector<uint64_t> good_rows = {0, 59};
  const std::vector<uint32_t> steps = {0, 2};
  const std::vector<uint32_t> too_many = {0, 3};
  WalkedSteps made;
  VICINITY_CHECK_OK(alone.Walk(spec, {walks, steps, good_rows}, &made));
  CHECK(alone.Walk(spec, {walks, steps, rows}, &made) ==
        absl::InvalidArgumentError("walk 5 stands at row 60 of the 60 of type node in shard 0"));
  CHECK(alone.Walk(spec, {walks, too_many, good_rows}, &made) ==
        absl::InvalidArgumentError("walk 5 has made 3 of 3 steps"));
}

}  // namespace
}  // namespace vicinity
