#include "client/cli/commands/plan_command.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/client/cli/run_command.h"
#include "tests/client/planning/timed_graph.h"
#include "tests/testing/graphs/damage.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

class Fixture {
 public:
  Fixture() : Fixture(SmallGraph()) {}
  explicit Fixture(const testing::MemoryGraph& graph) {
    VICINITY_REQUIRE_OK(testing::WriteGraph(graph, testing::Shuffled(graph, 4, 3), path()));
  }
  std::string path() const { return folder_.File("d"); }
  std::string picture() const { return folder_.File("p.svg"); }

  nlohmann::json Json(std::vector<std::string> args, const std::string& batch_size = "8") const {
    args.insert(args.end(),
                {path(), "--fanouts", "3,2", "--batch-size", batch_size, "--format", "json"});
    const Answer answer = RunCommand(kPlanCommand, args);
    CAPTURE(answer.narration);
    REQUIRE(answer.code == ExitCode::kOk);
    return nlohmann::json::parse(answer.out);
  }

 private:
  static testing::MemoryGraph SmallGraph() {
    testing::RandomGraphOptions shape;
    shape.num_nodes = 400;
    shape.num_edges = 2000;
    return testing::RandomGraph(shape);
  }

  const testing::TempDir folder_;
};

TEST_CASE("a plan tells rows, bytes and seconds, and of which loader", "[cli]") {
  const Fixture fixture;
  const nlohmann::json json = fixture.Json(
      {"--link-gbps", "1", "--sampled-batches", "400", "--picture", fixture.picture()});
  CHECK(json["shards"] == 4);
  CHECK(json["row_bytes"] == 32);  // eight floats
  CHECK(json["counted_batches"] >= 400);
  CHECK(json["sampled_batches"] > json["counted_batches"]);
  CHECK_THAT(json["loader"].get<std::string>(), Catch::Contains("cache auto, seeds from all"));
  const nlohmann::json none = json["by_cache_size"].front();
  CHECK(none["cache_rows"] == 0);
  const double rows = none["remote_rows_per_batch"];
  CHECK(none["bytes_per_batch"].get<double>() == Approx(32 * rows));
  CHECK(none["seconds_per_batch"].get<double>() == Approx(32 * rows * 8 / 1e9));
  CHECK(json["by_cache_size"].back()["remote_rows_per_batch"] == 0);
  std::ifstream file(fixture.picture());
  const std::string svg((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  CHECK_THAT(svg, Catch::StartsWith("<svg") && Catch::Contains("this loader"));
}

TEST_CASE("a plan answers how much cache a wish needs, and what more would save", "[cli]") {
  const Fixture fixture;
  // With one batch in flight, or those in flight would hold more than the caches asked for.
  const auto plan = [&](std::vector<std::string> args) {
    args.insert(args.end(), {"--fetch-ahead", "1"});
    return fixture.Json(args);
  };
  const nlohmann::json none = plan({})["by_cache_size"][0];
  const double half = none["remote_rows_per_batch"].get<double>() / 2;
  const nlohmann::json by_rows = plan({"--rows-per-batch", std::to_string(half)});
  CHECK(by_rows["enough"]["remote_rows_per_batch"] <= half);
  const double seconds = none["seconds_per_epoch"].get<double>() / 2;
  const nlohmann::json by_time = plan({"--seconds", std::to_string(seconds)});
  // Both wishes ask for half, up to the digits that were passed on.
  CHECK(by_time["enough"]["cache_rows"].get<double>() ==
        Approx(by_rows["enough"]["cache_rows"].get<double>()).epsilon(0.2));

  const nlohmann::json by_share = plan({"--share", "0.5"});
  CHECK(by_share["enough"]["cache_rows"] == by_rows["enough"]["cache_rows"]);

  const nlohmann::json more = plan({"--cache", "3200", "--more", "1600"});
  CHECK(more["before"]["cache_rows"] == 100);
  CHECK(more["more"]["cache_rows"] == 150);
  CHECK(more["more"]["remote_rows_per_batch"] < more["before"]["remote_rows_per_batch"]);
}

TEST_CASE("loaders are planned for as they are configured", "[cli]") {
  const Fixture fixture;
  const auto rows = [&](const std::vector<std::string>& args) {
    const nlohmann::json json = fixture.Json(args, /*batch_size=*/"2");
    return json["by_cache_size"][5]["remote_rows_per_batch"].get<double>();
  };
  // Each holds what the one before does and more.
  const double nothing_shared = rows({"--policy", "none", "--fetch-ahead", "1"});
  const double shared = rows({"--policy", "none", "--fetch-ahead", "2"});
  const double likeliest = rows({"--policy", "vip", "--fetch-ahead", "2"});
  const double soonest = rows({"--fetch-ahead", "2"});
  CHECK(shared < 0.95 * nothing_shared);
  CHECK(likeliest < 0.95 * shared);
  CHECK(soonest < 0.95 * likeliest);
  // Batches from a home alone are nearer to it.
  CHECK(rows({"--policy", "none", "--seed-policy", "home"}) < shared);
  CHECK(rows({"--policy", "none", "--window", "1"}) == Approx(nothing_shared));
}

TEST_CASE("loaders are planned for by the rules of their draws", "[cli]") {
  const Fixture fixture(testing::TimedGraph(400, 4000, 8));
  const auto rows = [&](std::vector<std::string> args) {
    args.insert(args.end(), {"--policy", "none", "--fetch-ahead", "1"});
    return fixture.Json(args)["by_cache_size"][0]["remote_rows_per_batch"].get<double>();
  };
  const double all = rows({});
  CHECK(rows({"--where", "time < 10"}) < 0.8 * all);
  CHECK(rows({"--draws", "labor", "--layer-dependency"}) < 0.95 * all);
  const double trees = rows({"--disjoint"});
  CHECK(trees > all);
  const double by_time = rows({"--disjoint", "--time-column", "time"});
  CHECK(by_time < trees);
  CHECK(rows({"--disjoint", "--time-column", "time", "--time-window", "5"}) < 0.8 * by_time);
  CHECK(rows({"--subgraph", "induced"}) == all);  // the nodes are the same
}

TEST_CASE("plans of loaders that there are not are refused", "[cli]") {
  const Fixture fixture(testing::TimedGraph(100, 600, 1));
  std::vector<std::string> args = {fixture.path(), "--disjoint", "--time-column", "time"};
  std::string why;
  SECTION("homes") {
    args.insert(args.end(), {"--seed-policy", "home"});
    why = "seeds of homes have no times";
  }
  SECTION("links of homes") {
    args.insert(args.end(), {"--seed-links", "links", "--seed-policy", "home"});
    why = "seeds of homes have no times";
  }
  SECTION("seeds without times") {
    args.insert(args.end(), {"--seed-time-column", "split"});
    why = "no column split of one int64 a row; it has: time";
  }
  const Answer answer = RunCommand(kPlanCommand, args);
  CHECK(answer.code == ExitCode::kUsage);
  CHECK_THAT(answer.narration, Catch::Contains(why));
}

TEST_CASE("batches of links are planned and sampled", "[cli]") {
  const Fixture fixture;
  const nlohmann::json json =
      fixture.Json({"--seed-links", "links", "--negatives", "1", "--sampled-batches", "800"});
  CHECK(json["counted_batches"] >= 800);
  CHECK(json["batches_per_epoch"] > 50);  // 2,000 links, 4 trainers, 8 a batch
  CHECK_THAT(json["loader"].get<std::string>(), Catch::Contains("seeds of the home"));
}

TEST_CASE("links are planned for as they are dealt, those with times from all", "[cli]") {
  const Fixture fixture(testing::TimedGraph(400, 4000, 8));
  const auto plan = [&](std::vector<std::string> args) {
    args.insert(args.end(), {"--seed-links", "links", "--policy", "none", "--fetch-ahead", "1"});
    return fixture.Json(args);
  };
  const auto rows = [](const nlohmann::json& json) {
    return json["by_cache_size"][0]["remote_rows_per_batch"].get<double>();
  };
  const nlohmann::json of_homes = plan({});
  const nlohmann::json from_all = plan({"--seed-policy", "global"});
  CHECK(rows(from_all) > rows(of_homes));  // a home's links lead to nodes that it has
  const nlohmann::json timed = plan({"--disjoint", "--time-column", "time"});
  CHECK_THAT(timed["loader"].get<std::string>(), Catch::Contains("from all"));
  CHECK(rows(timed) < rows(plan({"--seed-policy", "global", "--disjoint"})));
}

TEST_CASE("rows can be of some columns, or of any size", "[cli]") {
  const Fixture fixture;
  CHECK(fixture.Json({"--row-bytes", "1000"})["row_bytes"] == 1000);
  CHECK(fixture.Json({"--columns", "split"})["row_bytes"] == 1);
  CHECK(fixture.Json({"--sampled-batches", "0"})["loader"].is_null());
}

TEST_CASE("caches of a size of mine are planned for", "[cli]") {
  const Fixture fixture;
  const nlohmann::json sizes = fixture.Json({"--cache-rows", "120,30"})["by_cache_size"];
  REQUIRE(sizes.size() == 2);
  CHECK(sizes[0]["cache_rows"] == 30);
  CHECK(sizes[1]["cache_rows"] == 120);
}

TEST_CASE("people get a table and a chart", "[cli]") {
  const Fixture fixture;
  const Answer answer =
      RunCommand(kPlanCommand, {fixture.path(), "--fanouts", "3,2", "--batch-size", "8"});
  REQUIRE(answer.code == ExitCode::kOk);
  CHECK_THAT(answer.out, Catch::Contains("remote rows a batch") && Catch::Contains("of one alone"));
}

TEST_CASE("plans of what cannot be are refused", "[cli]") {
  const Fixture fixture;
  std::vector<std::string> args = {fixture.path()};
  SECTION("link") { args.insert(args.end(), {"--link-gbps", "0"}); }
  SECTION("trainers") { args.insert(args.end(), {"--trainers-per-home", "0"}); }
  SECTION("shares and rows") { args.insert(args.end(), {"--rows-per-batch", "1", "--share", "1"}); }
  SECTION("two wishes") { args.insert(args.end(), {"--rows-per-batch", "1", "--seconds", "1"}); }
  SECTION("cache") { args.insert(args.end(), {"--cache-rows", "30,-1"}); }
  SECTION("size") { args.insert(args.end(), {"--more", "lots"}); }
  SECTION("window") { args.insert(args.end(), {"--window", "wide"}); }
  SECTION("ahead") { args.insert(args.end(), {"--sample-ahead", "-1"}); }
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

TEST_CASE("a plan can be of a query's answers", "[cli]") {
  const Fixture fixture;
  const std::string query =
      GENERATE("src = nodes(node, $seeds); w = walk(src, links, 4, columns=[features])",
               "src = nodes(node, $seeds); a = layer(src, links, 9, columns=[features]); b = "
               "layer(a, links, "
               "9, columns=[features])");
  const std::vector<std::string> args = {fixture.path(), "--batch-size", "8", "--query", query};
  std::vector<std::string> as_json = args;
  as_json.insert(as_json.end(), {"--format", "json"});
  const Answer answer = RunCommand(kPlanCommand, as_json);
  CAPTURE(answer.narration);
  REQUIRE(answer.code == ExitCode::kOk);
  const nlohmann::json json = nlohmann::json::parse(answer.out);
  CHECK(json["row_bytes"] == 32);
  CHECK(json["loader"].is_null());
  CHECK(json["sampled_batches"] > 0);
  const double rows = json["by_cache_size"].front()["remote_rows_per_batch"];
  CHECK(rows > 0);
  CHECK(json["by_cache_size"].front()["bytes_per_batch"] == Approx(rows * 32));
  CHECK(json["by_cache_size"].back()["remote_rows_per_batch"] == 0);
  const Answer text = RunCommand(kPlanCommand, args);
  REQUIRE(text.code == ExitCode::kOk);
  CHECK_THAT(text.out, Catch::Contains("sampled answers of the query, each alone"));
  for (const char* flag : {"--fanouts", "--fetch-ahead", "--sampled-batches"}) {
    std::vector<std::string> refused = args;
    refused.insert(refused.end(), {flag, "4"});
    const Answer no = RunCommand(kPlanCommand, refused);
    CHECK(no.code == ExitCode::kUsage);
    CHECK_THAT(no.narration, Catch::Contains(std::string(flag) + " is of minibatches"));
  }
}

}  // namespace
}  // namespace vicinity::cli
