#include "client/cli/commands/partition_command.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cache/vip/vip.h"
#include "client/planning/home_plan.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/ranking.h"
#include "proto/common/file.h"
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
  explicit Fixture(testing::MemoryGraph graph) : graph_(std::move(graph)) {
    VICINITY_REQUIRE_OK(testing::WriteGraph(graph_, folder_.File("source")));
  }

  Answer Run(std::vector<std::string> args) const {
    args.insert(args.end(), {"--input", folder_.File("source"), "--output", folder_.File("cut")});
    return RunCommand(kPartitionCommand, args);
  }
  std::string File(const std::string& name) const { return folder_.File(name); }
  const testing::MemoryGraph& graph() const { return graph_; }

 private:
  const testing::TempDir folder_;
  const testing::MemoryGraph graph_;
};

testing::MemoryGraph GraphOf(int64_t num_nodes, bool splits = true) {
  testing::RandomGraphOptions options;
  options.num_nodes = num_nodes;
  options.num_edges = 5 * num_nodes;
  options.splits = splits;
  return testing::RandomGraph(options);
}

// The stored ranking is the VIP analysis of the cut itself, and shards are in its order.
void CheckRanking(const Dataset& cut, const VipRequest& flags) {
  const Assignment assignment = AssignmentOf(cut.book());
  VICINITY_ASSERT_OK_AND_ASSIGN(const HomePlan plan, PlanHomes(cut, assignment, flags));
  VICINITY_ASSERT_OK_AND_ASSIGN(const VipScores scores,
                                ComputeVip(cut, plan.seeds, plan.options, NoProgress()));
  for (int32_t t = 0; t < cut.book().num_node_types(); ++t) {
    const NodeTypeId type{t};
    for (size_t home = 0; home < plan.homes.size(); ++home) {
      const auto score = [&](int64_t node) {
        return scores.at(type, GlobalNode{node}, static_cast<int32_t>(home));
      };
      VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Ranking> ranking,
                                    Ranking::Open(cut, kDefaultRanking, plan.homes[home], type));
      int64_t positive = 0;
      for (int64_t node = 0; node < cut.book().num_nodes(type); ++node) {
        if (score(node) > 0) ++positive;
      }
      CHECK(ranking->size() == positive);
      for (int64_t i = 0; i < ranking->size(); ++i) {
        CHECK(ranking->probability(i) == Approx(score(ranking->node(i).value)).epsilon(1e-4));
        if (i > 0) CHECK(ranking->probability(i) <= ranking->probability(i - 1));
      }
      for (const int32_t shard : plan.homes[home]) {
        const int64_t first = cut.book().First(type, ShardId{shard}).value;
        for (int64_t row = 1; row < cut.book().num_nodes(type, ShardId{shard}); ++row) {
          CHECK(score(first + row) <= score(first + row - 1) * 1.0001F + 1e-12F);
        }
      }
    }
  }
}

TEST_CASE("a cut keeps the graph, orders it by VIP and stores the ranking", "[cli]") {
  const int which = GENERATE(0, 1);
  const Fixture fixture(which == 0 ? GraphOf(400) : testing::TypedGraph(200, 150, 30, 2));
  VipRequest flags;
  flags.fanouts = {5, 3};
  flags.batch_size = 16;
  flags.homes = GENERATE("", "0,2/1,3");
  const std::string assigner = GENERATE("metis", "hash", "range");
  std::vector<std::string> args = {"--shards",         "4",  "--fanouts",  "5,3",
                                   "--batch-size",     "16", "--assigner", assigner,
                                   "--sampled-epochs", "0"};
  if (!flags.homes.empty()) args.insert(args.end(), {"--homes", flags.homes});
  CAPTURE(which, assigner, flags.homes);
  const Answer answer = fixture.Run(args);
  CAPTURE(answer.narration);
  REQUIRE(answer.code == ExitCode::kOk);
  CHECK_THAT(answer.out,
             Catch::Contains("4 shards by " + assigner) && Catch::Contains("of a batch alone"));
  CHECK_THAT(answer.narration, Catch::Contains("needs about"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> cut,
                                Dataset::Open(fixture.File("cut")));
  CHECK(cut->book().num_shards() == 4);
  CHECK(testing::Difference(fixture.graph(), *cut).empty());
  CHECK_THAT(cut->manifest().provenance(), Catch::Contains("partition --shards 4"));
  CheckRanking(*cut, flags);
}

TEST_CASE("the report is printed as JSON, and kept beside the shards", "[cli]") {
  const Fixture fixture(GraphOf(300));
  const Answer answer = fixture.Run({"--shards", "3", "--format", "json"});
  CAPTURE(answer.narration);
  REQUIRE(answer.code == ExitCode::kOk);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::string kept,
                                ReadFile(fixture.File("cut/partition_report.json")));
  CHECK(kept == answer.out);
  const nlohmann::json json = nlohmann::json::parse(answer.out);
  CHECK(json["num_shards"] == 3);
  CHECK(json["num_nodes"] == 300);
  CHECK(json["num_edges"] == 1500);
  CHECK(json["halo_nodes"].size() == 3);
  const auto& sizes = json["expected"]["by_cache_size"];
  REQUIRE(sizes.size() == 7);
  CHECK(sizes[0]["remote_rows_per_batch"] > sizes[5]["remote_rows_per_batch"]);
  CHECK(sizes[6]["remote_rows_per_batch"] == 0);
}

TEST_CASE("without train nodes the order stays and that is said", "[cli]") {
  const Fixture fixture(GraphOf(100, /*splits=*/false));
  const Answer answer = fixture.Run({"--shards", "2", "--assigner", "range"});
  CAPTURE(answer.narration);
  REQUIRE(answer.code == ExitCode::kOk);
  CHECK_THAT(answer.narration, Catch::Contains("no train nodes"));
  CHECK_THAT(answer.out, !Catch::Contains("remote rows"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> cut,
                                Dataset::Open(fixture.File("cut")));
  CHECK(cut->manifest().rankings().empty());
  for (int64_t node = 0; node < 100; ++node) {  // dense ids: the key is the old position
    const ShardId owner = cut->book().OwnerOf(NodeTypeId{0}, GlobalNode{node});
    const int64_t row = cut->book().RowOf(NodeTypeId{0}, GlobalNode{node}).value;
    CHECK(cut->shard(owner)->nodes(NodeTypeId{0}).keys[row] == static_cast<uint64_t>(node));
  }
}

TEST_CASE("an assignment file decides where it is given", "[cli]") {
  const Fixture fixture(GraphOf(6));
  std::ofstream(fixture.File("a.txt")) << "1\n1\n0\n0\n0\n1\n";
  const std::string file = GENERATE("", "node=") + fixture.File("a.txt");
  const Answer answer = fixture.Run({"--shards", "2", "--assigner", "file", "--assignment", file});
  CAPTURE(answer.narration);
  REQUIRE(answer.code == ExitCode::kOk);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> cut,
                                Dataset::Open(fixture.File("cut")));
  CHECK(cut->book().num_nodes(NodeTypeId{0}, ShardId{0}) == 3);
  for (const uint64_t key : cut->shard(ShardId{0})->nodes(NodeTypeId{0}).keys) {
    CHECK((key >= 2 && key <= 4));
  }
}

TEST_CASE("as many shards as nodes, and an empty type, are ordinary", "[cli]") {
  const Fixture fixture(testing::TypedGraph(5, 3, 0, 2));
  const Answer answer = fixture.Run({"--shards", "8", "--assigner", GENERATE("metis", "range")});
  CAPTURE(answer.narration);
  REQUIRE(answer.code == ExitCode::kOk);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> cut,
                                Dataset::Open(fixture.File("cut")));
  CHECK(testing::Difference(fixture.graph(), *cut).empty());
}

TEST_CASE("each way to fail to cut has its exit code and leaves nothing", "[cli]") {
  const Fixture fixture(GraphOf(20));
  std::vector<std::string> args = {"--shards", "2"};
  ExitCode expected = ExitCode::kUsage;
  SECTION("no number of shards") { args = {}; }
  SECTION("no shards") { args = {"--shards", "0"}; }
  SECTION("more shards than nodes") { args = {"--shards", "21"}; }
  SECTION("unknown assigner") { args.insert(args.end(), {"--assigner", "magic"}); }
  SECTION("file without a file") { args.insert(args.end(), {"--assigner", "file"}); }
  SECTION("a file for another assigner") { args.insert(args.end(), {"--assignment", "a.txt"}); }
  SECTION("three tolerances") { args.insert(args.end(), {"--tolerance", "1.1,1.1,1.1"}); }
  SECTION("no tolerance") { args.insert(args.end(), {"--tolerance", "1"}); }
  SECTION("time that is none") { args.insert(args.end(), {"--time-limit", "soon"}); }
  SECTION("memory that is none") { args.insert(args.end(), {"--memory", "much"}); }
  SECTION("fanout 0") { args.insert(args.end(), {"--fanouts", "5,0"}); }
  SECTION("a shard that is nobody's home") { args.insert(args.end(), {"--homes", "0"}); }
  SECTION("too little memory") {
    args.insert(args.end(), {"--memory", "1K"});
    expected = ExitCode::kFailure;
  }
  const Answer answer = fixture.Run(args);
  CAPTURE(answer.narration);
  CHECK(answer.code == expected);
  CHECK(answer.out.empty());
  CHECK_FALSE(std::filesystem::exists(fixture.File("cut")));
}

TEST_CASE("a cut needs a dataset, and a place of its own", "[cli]") {
  const Fixture fixture(GraphOf(20));
  CHECK(RunCommand(kPartitionCommand, {"--shards", "2", "--input", fixture.File("none"), "--output",
                                       fixture.File("cut")})
            .code == ExitCode::kNotFound);
  CHECK(RunCommand(kPartitionCommand, {"--shards", "2", "--input", fixture.File("source"),
                                       "--output", fixture.File("source")})
            .code == ExitCode::kPrecondition);
  CHECK(RunCommand(kPartitionCommand, {"--shards", "2", "--input", fixture.File("source"),
                                       "--output", fixture.File("no/cut")})
            .code == ExitCode::kNotFound);
}

TEST_CASE("a damaged dataset is not cut, whichever of its files it is", "[cli]") {
  const Fixture fixture(GraphOf(300));
  const std::string file = fixture.File("source/shard-00000/") +
                           GENERATE("edges.node.links.node.sources", "edges.node.links.node.ids",
                                    "nodes.node.column.features", "nodes.node.column.split");
  testing::FlipBit(file, 200);
  const Answer damaged = fixture.Run({"--shards", "2", "--assigner", "range"});
  CHECK(damaged.code == ExitCode::kBadData);
  CHECK_THAT(damaged.narration, Catch::Contains(file + ": the page at byte 0: checksum is"));
  CHECK_FALSE(std::filesystem::exists(fixture.File("cut")));
}

}  // namespace
}  // namespace vicinity::cli
