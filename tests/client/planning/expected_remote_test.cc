#include "client/planning/expected_remote.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "cache/vip/vip.h"
#include "client/planning/home_plan.h"
#include "partition/cut/assigner.h"
#include "partition/cut/hash_assigner.h"
#include "partition/dataset/dataset.h"
#include "proto/common/progress.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

// The definition, word by word: of home's remote nodes, all but the likeliest `cache_rows`.
double RemoteRowsOf(const VipScores& scores, const HomePlan& plan, const Assignment& assignment,
                    int32_t home, size_t cache_rows) {
  std::vector<double> remote;
  for (size_t t = 0; t < assignment.shard_of.size(); ++t) {
    for (size_t node = 0; node < assignment.shard_of[t].size(); ++node) {
      if (plan.home_of[assignment.shard_of[t][node]] == home) continue;
      remote.push_back(scores.at(NodeTypeId{static_cast<int32_t>(t)},
                                 GlobalNode{static_cast<int64_t>(node)}, home));
    }
  }
  std::sort(remote.begin(), remote.end(), std::greater<double>());
  double rows = 0;
  for (size_t i = cache_rows; i < remote.size(); ++i) rows += remote[i];
  return rows;
}

TEST_CASE("expected remote rows are the means of the homes' sums beyond the cache", "[planning]") {
  const testing::TempDir folder;
  VICINITY_REQUIRE_OK(testing::WriteGraph(testing::TypedGraph(200, 150, 20, 3), folder.File("d")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(folder.File("d")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const Assignment assignment,
                                HashAssigner().Assign(*dataset, 4, NoProgress()));
  VipRequest flags;
  flags.fanouts = {5, 3};
  flags.batch_size = 8;
  flags.homes = GENERATE("", "0,1/2,3", "0,2/3");
  VICINITY_ASSERT_OK_AND_ASSIGN(const HomePlan plan, PlanHomes(*dataset, assignment, flags));
  VICINITY_ASSERT_OK_AND_ASSIGN(const VipScores scores,
                                ComputeVip(*dataset, plan.seeds, plan.options, NoProgress()));
  const ExpectedRemote expected = ExpectRemote(scores, plan, assignment);

  const std::vector<size_t> cache_sizes = {0, 1, 5, 9, 19, 46, 370};  // of 370 / 4 nodes
  REQUIRE(expected.points.size() == cache_sizes.size());
  for (size_t i = 0; i < cache_sizes.size(); ++i) {
    double sum = 0;
    for (int32_t home = 0; home < scores.num_homes; ++home) {
      REQUIRE_FALSE(plan.seeds[home].nodes.empty());
      sum += RemoteRowsOf(scores, plan, assignment, home, cache_sizes[i]);
    }
    CHECK(expected.points[i].remote_rows == Approx(sum / scores.num_homes).margin(1e-9));
    if (i + 1 < cache_sizes.size()) {
      CHECK(expected.points[i].cache_rows == static_cast<int64_t>(cache_sizes[i]));
    }
  }
  double all = 0;
  for (const std::vector<float>& values : scores.values) {
    for (const float value : values) all += value;
  }
  CHECK(expected.rows == Approx(all / scores.num_homes));
}

TEST_CASE("homes without seeds make no batches and do not count", "[planning]") {
  VipScores scores;
  scores.num_homes = 2;
  scores.values = {{0.5F, 0, 0.25F, 0, 1, 0}};  // three nodes, the second home never asks
  HomePlan plan;
  plan.homes = {{0}, {1}};
  plan.home_of = {0, 1};
  plan.seeds = {{NodeTypeId{0}, {2}}, {NodeTypeId{0}, {}}};
  Assignment assignment;
  assignment.num_shards = 2;
  assignment.shard_of = {{1, 1, 0}};
  const ExpectedRemote expected = ExpectRemote(scores, plan, assignment);
  CHECK(expected.rows == 1.75);
  CHECK(expected.points[0].remote_rows == 0.75);
  CHECK(expected.points.back().cache_rows == 2);

  plan.seeds[0].nodes.clear();
  CHECK(ExpectRemote(scores, plan, assignment).rows == 0);
}

}  // namespace
}  // namespace vicinity
