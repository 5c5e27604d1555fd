#include "client/cli/commands/rank_command.h"

#include <catch2/catch.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cache/vip/vip.h"
#include "client/planning/home_plan.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/ranking.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "tests/client/cli/run_command.h"
#include "tests/testing/graphs/damage.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

class Fixture {
 public:
  Fixture() {
    const testing::MemoryGraph graph = testing::TypedGraph(150, 100, 10, 2);
    VICINITY_REQUIRE_OK(testing::WriteGraph(graph, testing::Shuffled(graph, 4, 3), path()));
  }
  std::string path() const { return folder_.File("d"); }
  std::unique_ptr<Dataset> Open() const {
    VICINITY_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Dataset> dataset, Dataset::Open(path()));
    return dataset;
  }

 private:
  const testing::TempDir folder_;
};

TEST_CASE("a ranking is stored for the homes, seeds and fanouts asked for", "[cli]") {
  const Fixture fixture;
  const Answer answer =
      RunCommand(kRankCommand, {fixture.path(), "--name", "two", "--homes", "1,3/0,2", "--seeds",
                                "validation", "--fanouts", "4,2", "--batch-size", "3",
                                "--sampled-epochs", "0", "--format", "json"});
  CAPTURE(answer.narration);
  REQUIRE(answer.code == ExitCode::kOk);
  const nlohmann::json json = nlohmann::json::parse(answer.out);
  CHECK(json["ranking"]["name"] == "two");
  CHECK(json["ranking"]["homes"] == std::vector<std::vector<int32_t>>{{1, 3}, {0, 2}});
  CHECK(json["ranking"]["sampled_batches"] == 0);
  CHECK(json["expected"]["by_cache_size"].size() == 7);

  const std::unique_ptr<Dataset> dataset = fixture.Open();
  VipRequest flags;
  flags.homes = "1,3/0,2";
  flags.seeds = "validation";
  flags.fanouts = {4, 2};
  flags.batch_size = 3;
  VICINITY_ASSERT_OK_AND_ASSIGN(const HomePlan plan,
                                PlanHomes(*dataset, AssignmentOf(dataset->book()), flags));
  VICINITY_ASSERT_OK_AND_ASSIGN(const VipScores scores,
                                ComputeVip(*dataset, plan.seeds, plan.options, NoProgress()));
  const std::vector<int32_t> home = {0, 2};
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Ranking> ranking,
                                Ranking::Open(*dataset, "two", home, NodeTypeId{1}));
  REQUIRE(ranking->size() > 0);
  for (int64_t i = 0; i < ranking->size(); ++i) {
    CHECK(ranking->probability(i) == scores.at(NodeTypeId{1}, ranking->node(i), 1));
  }
}

TEST_CASE("a ranking of the same name is replaced, others stay", "[cli]") {
  const Fixture fixture;
  REQUIRE(RunCommand(kRankCommand, {fixture.path()}).code == ExitCode::kOk);
  REQUIRE(RunCommand(kRankCommand, {fixture.path(), "--name", "other"}).code == ExitCode::kOk);
  // The flag's value ends with its word.
  const Answer answer = RunCommand(kRankCommand, {"--fanouts", "2", fixture.path()});
  REQUIRE(answer.code == ExitCode::kOk);
  CHECK_THAT(answer.out, Catch::Contains("fanouts 2, 4 homes"));
  const std::unique_ptr<Dataset> dataset = fixture.Open();
  REQUIRE(dataset->manifest().rankings_size() == 2);
  for (const proto::Ranking& ranking : dataset->manifest().rankings()) {
    CHECK(ranking.fanouts_size() == (ranking.name() == kDefaultRanking ? 1 : 3));
    CHECK(ranking.homes_size() == 4);
  }
}

TEST_CASE("a ranking can be for batches of links", "[cli]") {
  const Fixture fixture;
  const Answer answer =
      RunCommand(kRankCommand, {fixture.path(), "--seed-links", "user:buys:item", "--negatives",
                                "3", "--negative-type", "tag", "--format", "json"});
  CAPTURE(answer.narration);
  REQUIRE(answer.code == ExitCode::kOk);
  const nlohmann::json json = nlohmann::json::parse(answer.out)["ranking"];
  CHECK(json["seeds"] == "links");
  CHECK(json["seed_links"] == "user:buys:item");
  CHECK(json["negatives_per_link"] == 3);
  CHECK(json["negative_type"] == "tag");
  const std::unique_ptr<Dataset> dataset = fixture.Open();
  CHECK(dataset->manifest().rankings(0).seed_links() == "user:buys:item");
  // All ten tags may be drawn for comparison, wherever they are.
  const std::vector<int32_t> home = {2};
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Ranking> tags,
                                Ranking::Open(*dataset, kDefaultRanking, home, NodeTypeId{2}));
  CHECK(tags->size() == 10);
}

TEST_CASE("a ranking for draws among some edges has none that others alone lead to", "[cli]") {
  const Fixture fixture;
  const auto rank = [&](std::vector<std::string> args) {
    args.insert(args.end(), {fixture.path(), "--fanouts", "-1", "--format", "json"});
    const Answer answer = RunCommand(kRankCommand, args);
    CAPTURE(answer.narration);
    REQUIRE(answer.code == ExitCode::kOk);
    return nlohmann::json::parse(answer.out);
  };
  // No weight is so large, and no other edge type that leads to users has weights.
  const nlohmann::json all = rank({"--seed-type", "item", "--seeds", "all"});
  const nlohmann::json none =
      rank({"--seed-type", "item", "--seeds", "all", "--where", "weight > 1000"});
  CHECK(none["ranking"]["where"] == "weight > 1000");
  CHECK(none["expected"]["rows_per_batch"] < all["expected"]["rows_per_batch"]);
  const nlohmann::json labor = rank({"--draws", "labor", "--layer-dependency"});
  CHECK(labor["ranking"]["draws"] == "labor");
  CHECK(labor["ranking"]["layer_dependency"] == true);
  CHECK(labor["ranking"]["sampled_batches"] > 0);
}

TEST_CASE("rankings that cannot be are refused and leave the dataset alone", "[cli]") {
  const Fixture fixture;
  std::vector<std::string> args = {fixture.path()};
  ExitCode expected = ExitCode::kUsage;
  SECTION("no such shard") { args.insert(args.end(), {"--homes", "0,4"}); }
  SECTION("no such seeds") { args.insert(args.end(), {"--seeds", "some"}); }
  SECTION("no such type") { args.insert(args.end(), {"--seed-type", "author"}); }
  SECTION("fanouts") { args.insert(args.end(), {"--fanouts", "-3"}); }
  SECTION("batch") { args.insert(args.end(), {"--batch-size", "0"}); }
  SECTION("no seeds") {
    args.insert(args.end(), {"--seed-type", "item"});
    expected = ExitCode::kPrecondition;
  }
  SECTION("no such links") { args.insert(args.end(), {"--seed-links", "sells"}); }
  SECTION("negatives of nothing") { args.insert(args.end(), {"--negatives", "2"}); }
  SECTION("no condition") { args.insert(args.end(), {"--where", "weight >"}); }
  SECTION("no such times") { args.insert(args.end(), {"--disjoint", "--time-column", "when"}); }
  SECTION("alike by themselves") { args.insert(args.end(), {"--layer-dependency"}); }
  SECTION("no dataset") {
    args = {fixture.path() + "x"};
    expected = ExitCode::kNotFound;
  }
  CHECK(RunCommand(kRankCommand, args).code == expected);
  CHECK(fixture.Open()->manifest().rankings().empty());
}

TEST_CASE("of damaged files no ranking is made, and of mended ones the same as ever", "[cli]") {
  const Fixture fixture;
  const Fixture twin;
  const std::string name = GENERATE("edges.user.buys.item.sources", "edges.user.knows.user.offsets",
                                    "edges.item.bought_by.user.sources", "nodes.user.column.split");
  const std::string file = fixture.path() + "/shard-00002/" + name;
  testing::FlipBit(file, 75);
  const Answer damaged = RunCommand(kRankCommand, {fixture.path()});
  CHECK(damaged.code == ExitCode::kBadData);
  CHECK_THAT(damaged.narration, Catch::Contains(file + ": the page at byte 0: checksum is"));

  testing::FlipBit(file, 75);
  CHECK(fixture.Open()->manifest().rankings().empty());
  const Answer sound = RunCommand(kRankCommand, {fixture.path()});
  REQUIRE(sound.code == ExitCode::kOk);
  CHECK(sound.out == RunCommand(kRankCommand, {twin.path()}).out);
  // Files carry their checksums.
  CHECK(fixture.Open()->manifest().rankings(0).SerializeAsString() ==
        twin.Open()->manifest().rankings(0).SerializeAsString());
}

TEST_CASE("a ranking can be for a query's answers, and has a name of its own", "[cli]") {
  const Fixture fixture;
  REQUIRE(RunCommand(kRankCommand, {fixture.path()}).code == ExitCode::kOk);
  const std::string query = GENERATE(
      "src = nodes(user, $seeds); w = walk(src, user:knows:user, 4)",
      "src = nodes(user, $seeds); items = layer(src, item:bought_by:user, 6, columns=[features])",
      "src = nodes(user, $seeds); all = nodes(tag, count=5)");
  const std::vector<std::string> args = {fixture.path(), "--batch-size", "4",  "--format",
                                         "json",         "--query",      query};
  const Answer answer = RunCommand(kRankCommand, args);
  CAPTURE(answer.narration);
  REQUIRE(answer.code == ExitCode::kOk);
  const nlohmann::json json = nlohmann::json::parse(answer.out);
  CHECK(json["ranking"]["name"] == "query");
  CHECK(json["ranking"]["seeds"] == "train as $seeds of: " + query);
  CHECK(json["ranking"]["batch_size"] == 4);
  CHECK(json["ranking"]["fanouts"].empty());
  CHECK(json["ranking"]["sampled_batches"] > 0);
  CHECK(json["expected"]["rows_per_batch"] > 0);
  const std::unique_ptr<Dataset> dataset = fixture.Open();
  REQUIRE(dataset->manifest().rankings_size() == 2);  // loaders' is as it was
  const std::vector<int32_t> home = {1};
  const NodeTypeId needed{
      dataset->schema().FindNodeType(query.find("columns") != std::string::npos ? "item" : "user")};
  for (int32_t type = 0; type < 3; ++type) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Ranking> ranking,
                                  Ranking::Open(*dataset, "query", home, NodeTypeId{type}));
    if (needed == NodeTypeId{type}) {
      CHECK(ranking->size() > 0);
    } else if (query.find("count") == std::string::npos) {
      CHECK(ranking->size() == 0);
    }
  }
  CHECK(RunCommand(kRankCommand, args).out == answer.out);
}

TEST_CASE("queries that cannot be ranked are refused and leave the dataset alone", "[cli]") {
  const Fixture fixture;
  std::string query = "src = nodes(user, $seeds); w = walk(src, user:knows:user, 4)";
  std::vector<std::string> args = {fixture.path()};
  ExitCode expected = ExitCode::kUsage;
  std::string said;
  SECTION("no seeds") {
    query = "src = nodes(user, count=4)";
    said = "no input that takes a batch's seeds";
  }
  SECTION("two inputs") {
    query = "a = nodes(user, $a); b = nodes(user, $b)";
    said = "inputs $a, $b";
  }
  SECTION("no such step") {
    query = "src = nodes(user, $seeds); w = walk(sorc, user:knows:user, 4)";
    said = "no step before it is named `sorc`";
  }
  SECTION("no such edges") {
    query = "src = nodes(user, $seeds); w = walk(src, likes, 4)";
    expected = ExitCode::kNotFound;
    said = "likes";
  }
  SECTION("no seeds of the type") {
    query = "src = nodes(tag, $seeds)";
    expected = ExitCode::kPrecondition;
    said = "no splits";
  }
  SECTION("of another type") {
    args.insert(args.end(), {"--seed-type", "item"});
    said = "$seeds takes nodes of type user";
  }
  SECTION("no epochs") {
    args.insert(args.end(), {"--sampled-epochs", "0"});
    said = "they are counted";
  }
  SECTION("minibatches") {
    args.insert(args.end(), {"--fanouts", "5"});
    said = "--fanouts is of minibatches";
  }
  SECTION("links") {
    args.insert(args.end(), {"--seed-links", "user:buys:item"});
    said = "--seed-links is of minibatches";
  }
  args.insert(args.end(), {"--query", query});
  const Answer answer = RunCommand(kRankCommand, args);
  CHECK(answer.code == expected);
  CHECK_THAT(answer.narration, Catch::Contains(said));
  CHECK(fixture.Open()->manifest().rankings().empty());
}

}  // namespace
}  // namespace vicinity::cli
