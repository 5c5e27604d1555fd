#include "client/cli/plan_command.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/client/cli/run_command.h"
#include "tests/testing/damage.h"
#include "tests/testing/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

class Fixture {
 public:
  Fixture() {
    testing::RandomGraphOptions shape;
    shape.num_nodes = 400;
    shape.num_edges = 2000;
    const testing::MemoryGraph graph = testing::RandomGraph(shape);
    VICINITY_REQUIRE_OK(testing::WriteGraph(graph, testing::Shuffled(graph, 4, 3), path()));
  }
  std::string path() const { return folder_.File("d"); }
  std::string picture() const { return folder_.File("p.svg"); }

  nlohmann::json Json(std::vector<std::string> args) const {
    args.insert(args.end(), {path(), "--fanouts", "3,2", "--batch-size", "8", "--format", "json"});
    const Answer answer = RunCommand(kPlanCommand, args);
    CAPTURE(answer.narration);
    REQUIRE(answer.code == ExitCode::kOk);
    return nlohmann::json::parse(answer.out);
  }

 private:
  const testing::TempDir folder_;
};

TEST_CASE("a plan tells rows, bytes and seconds, and that they were checked", "[cli]") {
  const Fixture fixture;
  const nlohmann::json json = fixture.Json(
      {"--link-gbps", "1", "--sampled-batches", "400", "--picture", fixture.picture()});
  CHECK(json["shards"] == 4);
  CHECK(json["row_bytes"] == 32);  // eight floats
  CHECK(json["sampled_batches"] >= 400);
  CHECK(json["vip_worst_error"] < 0.1);
  const nlohmann::json none = json["by_cache_size"].front();
  CHECK(none["cache_rows"] == 0);
  const double rows = none["remote_rows_per_batch"];
  CHECK(none["bytes_per_batch"].get<double>() == Approx(32 * rows));
  CHECK(none["seconds_per_batch"].get<double>() == Approx(32 * rows * 8 / 1e9));
  CHECK(json["by_cache_size"].back()["remote_rows_per_batch"] == 0);
  std::ifstream file(fixture.picture());
  const std::string svg((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  CHECK_THAT(svg, Catch::StartsWith("<svg") && Catch::Contains("by sampling"));
}

TEST_CASE("a plan answers how much cache a wish needs, and what more would save", "[cli]") {
  const Fixture fixture;
  const nlohmann::json none = fixture.Json({})["by_cache_size"][0];
  const double half = none["remote_rows_per_batch"].get<double>() / 2;
  const nlohmann::json by_rows = fixture.Json({"--rows-per-batch", std::to_string(half)});
  CHECK(by_rows["enough"]["remote_rows_per_batch"] <= half);
  const double seconds = none["seconds_per_epoch"].get<double>() / 2;
  const nlohmann::json by_time = fixture.Json({"--seconds", std::to_string(seconds)});
  // Both wishes ask for half, up to the digits that were passed on.
  CHECK(by_time["enough"]["cache_rows"].get<double>() ==
        Approx(by_rows["enough"]["cache_rows"].get<double>()).epsilon(0.2));

  const nlohmann::json by_share = fixture.Json({"--share", "0.5"});
  CHECK(by_share["enough"]["cache_rows"] == by_rows["enough"]["cache_rows"]);

  const nlohmann::json more = fixture.Json({"--cache", "640", "--more", "320"});
  CHECK(more["before"]["cache_rows"] == 20);
  CHECK(more["more"]["cache_rows"] == 30);
  CHECK(more["more"]["remote_rows_per_batch"] < more["before"]["remote_rows_per_batch"]);
}

TEST_CASE("planned rows are those of other batches to 3 percent where VIP alone is not", "[cli]") {
  // Cliques of ten: as many short cycles as can be.
  testing::RandomGraphOptions shape;
  shape.num_nodes = 2000;
  shape.num_edges = 0;
  testing::MemoryGraph graph = testing::RandomGraph(shape);
  for (int64_t node = 0; node < shape.num_nodes; ++node) {
    for (int64_t other = node / 10 * 10; other < node / 10 * 10 + 10; ++other) {
      if (other == node) continue;
      graph.edges[0].sources.push_back(other);
      graph.edges[0].targets.push_back(node);
    }
  }
  const testing::TempDir folder;
  VICINITY_REQUIRE_OK(testing::WriteGraph(graph, testing::Shuffled(graph, 4, 3), folder.File("d")));
  const auto plan = [&](const char* run_seed) {
    const Answer answer = RunCommand(
        kPlanCommand, {folder.File("d"), "--fanouts", "4,3,2", "--batch-size", "10",
                       "--sampled-batches", "1000", "--run-seed", run_seed, "--format", "json"});
    REQUIRE(answer.code == ExitCode::kOk);
    return nlohmann::json::parse(answer.out);
  };
  const nlohmann::json one = plan("1");
  const nlohmann::json other = plan("2");
  CHECK(one["vip_worst_error"] > 0.05);
  for (size_t i = 0; i + 1 < one["by_cache_size"].size(); ++i) {
    CHECK(one["by_cache_size"][i]["remote_rows_per_batch"].get<double>() ==
          Approx(other["by_cache_size"][i]["remote_rows_per_batch"].get<double>()).epsilon(0.03));
  }
}

TEST_CASE("batches of links are planned and sampled", "[cli]") {
  const Fixture fixture;
  const nlohmann::json json =
      fixture.Json({"--seed-links", "links", "--negatives", "1", "--sampled-batches", "800"});
  CHECK(json["sampled_batches"] >= 800);
  CHECK(json["batches_per_epoch"] > 50);  // 2,000 links, 4 trainers, 8 a batch
  CHECK(json["vip_worst_error"] < 0.1);
}

TEST_CASE("rows can be of some columns, or of any size", "[cli]") {
  const Fixture fixture;
  CHECK(fixture.Json({"--row-bytes", "1000"})["row_bytes"] == 1000);
  CHECK(fixture.Json({"--columns", "split"})["row_bytes"] == 1);
  CHECK(fixture.Json({"--sampled-batches", "0"})["vip_worst_error"].is_null());
}

TEST_CASE("people get a table and a chart", "[cli]") {
  const Fixture fixture;
  const Answer answer =
      RunCommand(kPlanCommand, {fixture.path(), "--fanouts", "3,2", "--batch-size", "8"});
  REQUIRE(answer.code == ExitCode::kOk);
  CHECK_THAT(answer.out, Catch::Contains("remote rows a batch") && Catch::Contains("by VIP alone"));
}

TEST_CASE("plans of what cannot be are refused", "[cli]") {
  const Fixture fixture;
  std::vector<std::string> args = {fixture.path()};
  SECTION("link") { args.insert(args.end(), {"--link-gbps", "0"}); }
  SECTION("trainers") { args.insert(args.end(), {"--trainers-per-home", "0"}); }
  SECTION("shares and rows") { args.insert(args.end(), {"--rows-per-batch", "1", "--share", "1"}); }
  SECTION("two wishes") { args.insert(args.end(), {"--rows-per-batch", "1", "--seconds", "1"}); }
  SECTION("size") { args.insert(args.end(), {"--more", "lots"}); }
  SECTION("column") { args.insert(args.end(), {"--columns", "colour"}); }
  CHECK(RunCommand(kPlanCommand, args).code == ExitCode::kUsage);
}

TEST_CASE("of damaged files nothing is planned", "[cli]") {
  const Fixture fixture;
  const std::string name = GENERATE("edges.node.links.node.sources",
                                    "edges.node.links.node.offsets", "nodes.node.column.split");
  const std::string file = fixture.path() + "/shard-00001/" + name;
  std::vector<std::string> args = {fixture.path(), "--fanouts", "3,2", "--batch-size", "8"};
  const std::string sound = RunCommand(kPlanCommand, args).out;
  testing::FlipBit(file, 75);
  // Whoever takes seeds reads the splits, whoever takes links the lists.
  if (GENERATE(false, true) && name != "nodes.node.column.split") {
    args.insert(args.end(), {"--seed-links", "links"});
  }
  const Answer damaged = RunCommand(kPlanCommand, args);
  CHECK(damaged.code == ExitCode::kBadData);
  CHECK(damaged.out.empty());
  CHECK_THAT(damaged.narration, Catch::Contains(file + ": the page at byte 0: checksum is"));
  testing::FlipBit(file, 75);
  args.resize(5);
  CHECK(RunCommand(kPlanCommand, args).out == sound);
}

}  // namespace
}  // namespace vicinity::cli
