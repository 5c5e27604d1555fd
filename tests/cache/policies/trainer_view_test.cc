#include "cache/policies/trainer_view.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cache/vip/vip.h"
#include "partition/dataset/dataset.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/ids.h"
#include "tests/cache/policies/policy_oracles.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

TEST_CASE("a view numbers the nodes of all types and knows the remote ones", "[policies]") {
  const auto trainer = testing::MakeSmallTrainer(GENERATE(false, true));
  const TrainerView& view = *trainer->view;
  const Book& book = trainer->dataset->book();
  int64_t number = 0;
  for (int32_t t = 0; t < book.num_node_types(); ++t) {
    REQUIRE(view.first({t}) == number);
    for (int64_t node = 0; node < book.num_nodes({t}); ++node, ++number) {
      REQUIRE(view.is_remote(number) == (book.OwnerOf({t}, {node}).value != 1));
    }
  }
  CHECK(view.num_nodes() == number);
  std::vector<double> scores(number, 1);
  view.KeepRemote(&scores);
  for (int64_t node = 0; node < number; ++node) REQUIRE(scores[node] == view.is_remote(node));
}

TEST_CASE("a view follows the edge types of each hop", "[policies]") {
  const auto trainer = testing::MakeSmallTrainer(true);
  const TrainerView& view = *trainer->view;
  const int32_t has = trainer->dataset->schema().FindEdgeType("has");
  const std::vector<int32_t> second = view.Followed(1);
  CHECK(view.Followed(0).size() == second.size() + 1);
  CHECK(std::count(second.begin(), second.end(), has) == 0);
  CHECK(view.FollowedByAny() == view.Followed(0));
}

TEST_CASE("values spread to the sources of edges", "[policies]") {
  const auto trainer = testing::MakeSmallTrainer(GENERATE(false, true));
  const TrainerView& view = *trainer->view;
  std::vector<double> from(view.num_nodes());
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<double>(i % 3);
  std::vector<double> expected(view.num_nodes(), 0.5);
  std::vector<double> degrees(view.num_nodes());
  for (const auto& edge : testing::AllEdges(view)) {
    if (!testing::IsFollowed(view, 1, edge.type)) continue;
    expected[edge.source] += from[edge.target];
    degrees[edge.target] += 1;
  }
  std::vector<double> to(view.num_nodes(), 0.5);
  VICINITY_REQUIRE_OK(view.SpreadToSources(view.Followed(1), from, &to));
  CHECK(to == expected);
  CHECK(view.InDegrees(view.Followed(1)) == degrees);
}

TEST_CASE("a view of what is not there is refused", "[policies]") {
  const auto trainer = testing::MakeSmallTrainer(false);
  const Dataset& dataset = *trainer->dataset;
  VipOptions options = trainer->view->options();
  const auto create = [&](std::vector<int32_t> home, HomeSeeds seeds) {
    return TrainerView::Create(&dataset, home, seeds, options);
  };
  VICINITY_CHECK_OK(create({0, 2}, {NodeTypeId{0}, {0, 119}}));
  const auto kInvalid = absl::StatusCode::kInvalidArgument;
  VICINITY_CHECK_CODE(create({3}, {NodeTypeId{0}, {}}), kInvalid);
  VICINITY_CHECK_CODE(create({-1}, {NodeTypeId{0}, {}}), kInvalid);
  VICINITY_CHECK_CODE(create({0}, {NodeTypeId{0}, {120}}), kInvalid);
  VICINITY_CHECK_CODE(create({0}, {NodeTypeId{0}, {-1}}), kInvalid);
  VICINITY_CHECK_CODE(create({0}, {NodeTypeId{1}, {}}), kInvalid);
  options.batch_size = 0;
  VICINITY_CHECK_CODE(create({0}, {NodeTypeId{0}, {}}), kInvalid);
  options.batch_size = 1;
  options.sampling.fanouts.clear();
  VICINITY_CHECK_CODE(create({0}, {NodeTypeId{0}, {}}), kInvalid);

  Dataset::Options part;
  part.shards = {ShardId{0}};
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto one_shard, Dataset::Open(dataset.directory(), part));
  VICINITY_CHECK_CODE(
      TrainerView::Create(one_shard.get(), {0}, {NodeTypeId{0}, {}}, trainer->view->options()),
      absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace vicinity
