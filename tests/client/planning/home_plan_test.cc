#include "client/planning/home_plan.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "cache/vip/vip.h"
#include "partition/cut/assigner.h"
#include "partition/cut/hash_assigner.h"
#include "partition/cut/node_facts.h"
#include "partition/dataset/dataset.h"
#include "proto/common/progress.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using Homes = std::vector<std::vector<int32_t>>;

class Fixture {
 public:
  explicit Fixture(const testing::MemoryGraph& graph) {
    VICINITY_REQUIRE_OK(testing::WriteGraph(graph, folder_.File("d")));
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset_, Dataset::Open(folder_.File("d")));
    VICINITY_ASSERT_OK_AND_ASSIGN(assignment_, HashAssigner().Assign(*dataset_, 4, NoProgress()));
  }
  const Dataset& dataset() const { return *dataset_; }
  const Assignment& assignment() const { return assignment_; }
  absl::StatusOr<HomePlan> Plan(const VipRequest& flags) const {
    return PlanHomes(*dataset_, assignment_, flags);
  }

 private:
  const testing::TempDir folder_;
  std::unique_ptr<Dataset> dataset_;
  Assignment assignment_;
};

TEST_CASE("homes are groups of shards, by default each alone", "[planning]") {
  const auto check = [](const std::string& text, const Homes& expected) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const Homes homes, ParseHomes(text, 4));
    CHECK(homes == expected);
  };
  check("", {{0}, {1}, {2}, {3}});
  check("0,2/1,3", {{0, 2}, {1, 3}});
  check("3,0,1,2", {{0, 1, 2, 3}});
  check("2", {{2}});
}

TEST_CASE("homes that name no shard, or one twice, are refused", "[planning]") {
  for (const char* text : {"4", "-1", "a", "0,", "/", "0/", "0,1/1,2", "0,0", " 0 1"}) {
    CAPTURE(text);
    VICINITY_CHECK_CODE(ParseHomes(text, 4).status(), absl::StatusCode::kInvalidArgument);
  }
}

TEST_CASE("a home's seeds are the seeds of all its shards", "[planning]") {
  const Fixture fixture(testing::TypedGraph(300, 50, 5, 1));
  VipRequest flags;
  flags.homes = "0,2/3";
  flags.seeds = GENERATE("train", "validation", "test", "all");
  flags.seed_type = "user";
  VICINITY_ASSERT_OK_AND_ASSIGN(const HomePlan plan, fixture.Plan(flags));
  CHECK(plan.homes == Homes{{0, 2}, {3}});
  CHECK(plan.home_of == std::vector<int32_t>{0, -1, 0, 1});
  const Split split = flags.seeds == "train"        ? Split::kTrain
                      : flags.seeds == "validation" ? Split::kValidation
                      : flags.seeds == "test"       ? Split::kTest
                                                    : Split::kNone;
  Homes shards = {{0, 2}, {3}};
  for (size_t home = 0; home < 2; ++home) {
    std::vector<int64_t> expected;
    for (const int64_t node : NodesInSplit(fixture.dataset(), NodeTypeId{0}, split)) {
      const int32_t shard = fixture.assignment().shard_of[0][node];
      for (const int32_t own : shards[home]) {
        if (shard == own) expected.push_back(node);
      }
    }
    CHECK(plan.seeds[home].type == NodeTypeId{0});
    CHECK(plan.seeds[home].nodes == expected);
    CHECK_FALSE(expected.empty());
  }
}

TEST_CASE("the seed type is found where there is one choice, else it must be named", "[planning]") {
  const Fixture fixture(testing::TypedGraph(30, 50, 5, 1));
  VipRequest flags;
  VICINITY_ASSERT_OK_AND_ASSIGN(const NodeTypeId found, FindSeedType(fixture.dataset(), flags));
  CHECK(found == NodeTypeId{0});
  flags.seeds = "all";
  VICINITY_CHECK_CODE(FindSeedType(fixture.dataset(), flags).status(),
                      absl::StatusCode::kInvalidArgument);
  flags.seed_type = "item";
  VICINITY_ASSERT_OK_AND_ASSIGN(const NodeTypeId named, FindSeedType(fixture.dataset(), flags));
  CHECK(named == NodeTypeId{1});
  flags.seeds = "train";  // items have no splits
  VICINITY_CHECK_CODE(FindSeedType(fixture.dataset(), flags).status(),
                      absl::StatusCode::kFailedPrecondition);
  flags.seed_type = "author";
  VICINITY_CHECK_CODE(FindSeedType(fixture.dataset(), flags).status(),
                      absl::StatusCode::kInvalidArgument);
}

TEST_CASE("flags that no minibatch can be made of are refused", "[planning]") {
  const Fixture fixture(testing::TypedGraph(30, 50, 5, 1));
  VipRequest flags;
  SECTION("no hops") { flags.fanouts = {}; }
  SECTION("fanout 0") { flags.fanouts = {10, 0}; }
  SECTION("negative fanout") { flags.fanouts = {-2}; }
  SECTION("huge fanout") { flags.fanouts = {kMaxFanout + 1}; }
  SECTION("too many hops") { flags.fanouts.assign(kMaxHops + 1, 1); }
  SECTION("unknown weights") { flags.weighted_by = "length"; }
  SECTION("batch of nothing") { flags.batch_size = 0; }
  SECTION("unknown seeds") { flags.seeds = "some"; }
  SECTION("unknown shard") { flags.homes = "7"; }
  VICINITY_CHECK_CODE(fixture.Plan(flags).status(), absl::StatusCode::kInvalidArgument);
}

TEST_CASE("a graph without splits has no seeds to plan for", "[planning]") {
  testing::RandomGraphOptions options;
  options.splits = false;
  const Fixture fixture(testing::RandomGraph(options));
  VICINITY_CHECK_CODE(fixture.Plan(VipRequest()).status(), absl::StatusCode::kFailedPrecondition);
  VipRequest all;
  all.seeds = "all";
  VICINITY_CHECK_OK(fixture.Plan(all).status());
}

TEST_CASE("links are seeds of the home that their target is in", "[planning]") {
  const Fixture fixture(testing::TypedGraph(300, 50, 5, 1));
  VipRequest flags;
  flags.homes = "0,2/3";
  flags.seed_links = "buys";
  flags.negatives_per_link = 2;
  VICINITY_ASSERT_OK_AND_ASSIGN(const HomePlan plan, fixture.Plan(flags));
  REQUIRE(plan.links.size() == 2);
  CHECK(plan.num_seeds(0) > plan.num_seeds(1));
  CHECK(plan.num_seeds(1) > 0);
  CHECK(plan.links[0].negatives_per_link == 2);
  CHECK(plan.links[0].negative_type == NodeTypeId{1});
  VICINITY_ASSERT_OK_AND_ASSIGN(const VipScores scores,
                                ScoresOf(fixture.dataset(), plan, NoProgress()));
  CHECK(scores.num_homes == 2);
  const proto::Ranking ranking = DescribeRanking("links", flags, plan);
  CHECK(ranking.seeds() == "links");
  CHECK(ranking.seed_links() == "buys");
  CHECK(ranking.negatives_per_link() == 2);

  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  flags.negative_type = "colour";
  VICINITY_CHECK_CODE(fixture.Plan(flags).status(), kInvalid);
  flags.negative_type = "tag";
  VICINITY_CHECK_OK(fixture.Plan(flags).status());
  flags.negatives_per_link = -1;
  VICINITY_CHECK_CODE(fixture.Plan(flags).status(), kInvalid);
  flags.seed_links = "sells";
  VICINITY_CHECK_CODE(fixture.Plan(flags).status(), kInvalid);
  flags = VipRequest();
  flags.seed_links = "of";  // has no edges
  VICINITY_CHECK_CODE(fixture.Plan(flags).status(), absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("a book's assignment puts each node where its owner is", "[planning]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const Book book, Book::Create({{0, 2, 2, 5}, {0, 0, 1, 1}}));
  const Assignment assignment = AssignmentOf(book);
  CHECK(assignment.num_shards == 3);
  CHECK(assignment.shard_of == std::vector<std::vector<int32_t>>{{0, 0, 2, 2, 2}, {1}});
}

TEST_CASE("a ranking describes the request that it was made for", "[planning]") {
  VipRequest request;
  request.homes = "0,1/2,3";
  request.expansion = Expansion::kNewNodes;
  request.replace = true;
  request.batch_size = 7;
  request.fanouts = {5, -1};
  request.weighted_by = "weight";
  testing::RandomGraphOptions weighted;
  weighted.weights = true;
  const Fixture fixture(testing::RandomGraph(weighted));
  VICINITY_ASSERT_OK_AND_ASSIGN(const HomePlan plan, fixture.Plan(request));
  CHECK(plan.options.batch_size == 7);
  CHECK(plan.options.sampling.replace);
  CHECK(plan.options.sampling.expansion == Expansion::kNewNodes);
  const proto::Ranking ranking = DescribeRanking("mine", request, plan);
  CHECK(ranking.name() == "mine");
  CHECK(ranking.seeds() == "train");
  CHECK(ranking.batch_size() == 7);
  CHECK(std::vector<int64_t>(ranking.fanouts().begin(), ranking.fanouts().end()) ==
        std::vector<int64_t>{5, -1});
  CHECK(ranking.replace());
  CHECK(ranking.weighted_by() == "weight");
  CHECK(ranking.new_nodes_only());
  REQUIRE(ranking.homes_size() == 2);
  CHECK(ranking.homes(1).shards(0) == 2);
}

}  // namespace
}  // namespace vicinity
