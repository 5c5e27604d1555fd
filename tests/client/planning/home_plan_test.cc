#include "client/planning/home_plan.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "cache/vip/vip.h"
#include "client/query/query_text.h"
#include "partition/cut/assigner.h"
#include "partition/cut/hash_assigner.h"
#include "partition/cut/node_facts.h"
#include "partition/dataset/dataset.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "tests/client/planning/timed_graph.h"
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
  SECTION("unknown times") {
    flags.disjoint = true;
    flags.time_column = "time";
  }
  SECTION("no condition") { flags.where = "weight <"; }
  SECTION("unknown columns") { flags.where = "length < 1"; }
  SECTION("batches that choose alike by themselves") { flags.batch_dependency = 2; }
  SECTION("a window of no times") { flags.time_window = 2; }
  SECTION("batch of nothing") { flags.batch_size = 0; }
  SECTION("unknown seeds") { flags.seeds = "some"; }
  SECTION("unknown shard") { flags.homes = "7"; }
  VICINITY_CHECK_CODE(fixture.Plan(flags).status(), absl::StatusCode::kInvalidArgument);
}

VipRequest ByTime() {
  VipRequest request;
  request.fanouts = {3, 2};
  request.disjoint = true;
  request.time_column = "time";
  return request;
}

TEST_CASE("seeds have the times of a column, by default that of the edges' name", "[planning]") {
  const testing::MemoryGraph graph = testing::TimedGraph(100, 600, 1);
  const Fixture fixture(graph);  // nodes in the user's order
  VipRequest request = ByTime();
  CHECK(fixture.Plan(VipRequest()).value().node_times.empty());
  VICINITY_ASSERT_OK_AND_ASSIGN(const HomePlan plan, fixture.Plan(request));
  REQUIRE(plan.node_times.size() == 100);
  for (int64_t node = 0; node < 100; ++node) {
    CHECK(plan.node_times[node] == testing::NodeTime(graph, node));
  }
  request.seed_time_column = "when";
  VICINITY_CHECK_CODE(fixture.Plan(request).status(), absl::StatusCode::kInvalidArgument);
  request.time_column.clear();
  request.seed_time_column = "time";
  VICINITY_CHECK_CODE(fixture.Plan(request).status(), absl::StatusCode::kInvalidArgument);
  request = ByTime();
  request.seed_links = "links";
  VICINITY_ASSERT_OK_AND_ASSIGN(const HomePlan links, fixture.Plan(request));
  CHECK(links.link_times == "time");
  CHECK(links.node_times.empty());
}

TEST_CASE("the formula is left edges that some seed's batch can draw", "[planning]") {
  const testing::MemoryGraph graph = testing::TimedGraph(100, 600, 1);
  const Fixture fixture(graph);
  const auto count = [&](const VipRequest& request) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const HomePlan plan, fixture.Plan(request));
    VICINITY_ASSERT_OK_AND_ASSIGN(
        const std::vector<uint8_t> there,
        plan.options.filter(EdgeTypeId{0}, *fixture.dataset().shards()[0]));
    return std::count(there.begin(), there.end(), 1);
  };
  VICINITY_ASSERT_OK_AND_ASSIGN(const HomePlan plan, fixture.Plan(ByTime()));
  int64_t first = 100, last = -1;
  for (const HomeSeeds& seeds : plan.seeds) {
    for (const int64_t node : seeds.nodes) {
      first = std::min(first, plan.node_times[node]);
      last = std::max(last, plan.node_times[node]);
    }
  }
  const auto count_times = [&](int64_t from, int64_t until) {
    int64_t found = 0;
    for (int64_t edge = 0; edge < 600; ++edge) {
      const int64_t time = testing::EdgeTime(graph, edge);
      found += from <= time && time <= until ? 1 : 0;
    }
    return found;
  };
  CHECK(count(ByTime()) == count_times(0, last));
  VipRequest window = ByTime();
  window.time_window = 10;
  CHECK(count(window) == count_times(first - 10, last));
  window.time_window = std::numeric_limits<int64_t>::max();
  CHECK(count(window) == count_times(0, last));
  VipRequest where;
  where.where = "time < 40";
  CHECK(count(where) == count_times(0, 39));
  CHECK_FALSE(fixture.Plan(VipRequest()).value().options.filter);
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

TEST_CASE("links of all homes are those of one home that has all of their shards", "[planning]") {
  const Fixture fixture(testing::TypedGraph(300, 50, 5, 1));
  VipRequest flags;
  flags.homes = "0,2/3";
  flags.seed_links = GENERATE("buys", "knows");  // ends of two types, and of one
  flags.negatives_per_link = 1;
  VICINITY_ASSERT_OK_AND_ASSIGN(HomePlan plan, fixture.Plan(flags));
  DealFromAll(&plan);
  flags.homes = "0,2,3";
  VICINITY_ASSERT_OK_AND_ASSIGN(const HomePlan one, fixture.Plan(flags));
  REQUIRE(plan.links.size() == 2);
  CHECK(plan.seeds_from_all);
  for (const LinkSeeds& links : plan.links) {
    CHECK(links.num_links == one.links[0].num_links);
    CHECK(links.negatives_per_link == 1);
    REQUIRE(links.ends.size() == one.links[0].ends.size());
    for (size_t i = 0; i < links.ends.size(); ++i) {
      CHECK(links.ends[i].type == one.links[0].ends[i].type);
      CHECK(links.ends[i].nodes == one.links[0].ends[i].nodes);
      CHECK(links.ends[i].counts == one.links[0].ends[i].counts);
    }
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(const VipScores scores,
                                ScoresOf(fixture.dataset(), plan, NoProgress()));
  VICINITY_ASSERT_OK_AND_ASSIGN(const VipScores expected,
                                ScoresOf(fixture.dataset(), one, NoProgress()));
  REQUIRE(scores.num_homes == 2);
  for (int64_t node = 0; node < 50; ++node) {
    for (const int32_t home : {0, 1}) {
      CHECK(scores.at({1}, {node}, home) == expected.at({1}, {node}, 0));
    }
  }
}

TEST_CASE("a book's assignment puts each node where its owner is", "[planning]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const Book book, Book::Create({{0, 2, 2, 5}, {0, 0, 1, 1}}));
  const Assignment assignment = AssignmentOf(book);
  CHECK(assignment.num_shards == 3);
  CHECK(assignment.shard_of == std::vector<std::vector<int32_t>>{{0, 0, 2, 2, 2}, {1}});
}

TEST_CASE("a ranking says which edges there were to draw, and how", "[planning]") {
  const Fixture fixture(testing::TimedGraph(100, 600, 1));
  VipRequest request = ByTime();
  request.where = "time > 3";
  request.temporal_strategy = TemporalStrategy::kLast;
  request.time_window = 30;
  request.time_follows = TimeFollows::kPath;
  VICINITY_ASSERT_OK_AND_ASSIGN(const HomePlan by_time, fixture.Plan(request));
  CHECK(by_time.options.sampling.where == "time > 3");
  CHECK(by_time.options.sampling.disjoint);
  CHECK(by_time.options.sampling.time_column == "time");
  CHECK(by_time.options.sampling.temporal_strategy == TemporalStrategy::kLast);
  CHECK(by_time.options.sampling.time_window == 30);
  CHECK(by_time.options.sampling.time_follows == TimeFollows::kPath);
  proto::Ranking ranking = DescribeRanking("mine", request, by_time);
  CHECK(ranking.where() == "time > 3");
  CHECK(ranking.disjoint());
  CHECK(ranking.time_column() == "time");
  CHECK(ranking.seed_time_column() == "time");
  CHECK(ranking.latest_edges());
  CHECK(ranking.time_window() == 30);
  CHECK(ranking.time_follows_path());
  CHECK_FALSE(ranking.labor());
  request = VipRequest();
  request.draws = Draws::kLabor;
  request.layer_dependency = true;
  request.batch_dependency = 3;
  VICINITY_ASSERT_OK_AND_ASSIGN(const HomePlan labor, fixture.Plan(request));
  CHECK(labor.options.sampling.draws == Draws::kLabor);
  CHECK(labor.options.sampling.layer_dependency);
  CHECK(labor.options.sampling.batch_dependency == 3);
  ranking = DescribeRanking("mine", request, labor);
  CHECK(ranking.labor());
  CHECK(ranking.layer_dependency());
  CHECK(ranking.batch_dependency() == 3);
  CHECK(ranking.time_column().empty());
  CHECK(ranking.where().empty());
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

VipRequest WithQuery(const std::string& text) {
  VipRequest request;
  VICINITY_ASSERT_OK_AND_ASSIGN(request.query, ParseQuery(text));
  return request;
}

TEST_CASE("of a query the seeds are of its input's type, and draws its own", "[planning]") {
  const Fixture fixture(testing::TypedGraph(80, 60, 10, 3));
  VipRequest request = WithQuery("src = nodes(item, $things); w = walk(src, user:buys:item, 1)");
  request.seeds = "all";
  VICINITY_ASSERT_OK_AND_ASSIGN(const HomePlan plan, fixture.Plan(request));
  REQUIRE(plan.query != nullptr);
  int64_t num_seeds = 0;
  for (const HomeSeeds& home : plan.seeds) {
    CHECK(home.type == NodeTypeId{fixture.dataset().schema().FindNodeType("item")});
    num_seeds += static_cast<int64_t>(home.nodes.size());
  }
  CHECK(num_seeds == 60);
  CHECK(plan.options.sampling.num_hops() == 1);

  request.seed_type = "item";
  VICINITY_CHECK_OK(fixture.Plan(request).status());
  SECTION("of another type") { request.seed_type = "user"; }
  SECTION("links") { request.seed_links = "user:buys:item"; }
  SECTION("no input") { request.query = Query(); }
  SECTION("batch") { request.batch_size = 0; }
  VICINITY_CHECK_CODE(fixture.Plan(request).status(), absl::StatusCode::kInvalidArgument);
}

TEST_CASE("a ranking says which query it was made for, in one line", "[planning]") {
  const Fixture fixture(testing::TypedGraph(80, 60, 10, 3));
  const VipRequest request =
      WithQuery("src = nodes(user, $seeds) # here we begin\nw = walk(src, user:knows:user, 4)");
  VICINITY_ASSERT_OK_AND_ASSIGN(const HomePlan plan, fixture.Plan(request));
  const proto::Ranking ranking = DescribeRanking("walks", request, plan);
  CHECK(ranking.name() == "walks");
  CHECK(ranking.seeds() ==
        "train as $seeds of: src = nodes(user, $seeds); w = walk(src, user:knows:user, 4)");
  CHECK(ranking.batch_size() == 1024);
  CHECK(ranking.fanouts().empty());
  CHECK(ranking.homes_size() == 4);
}

}  // namespace
}  // namespace vicinity
