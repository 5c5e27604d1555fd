#include "client/cli/commands/policies_command.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

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
  std::string picture() const { return folder_.File("p.svg"); }

 private:
  const testing::TempDir folder_;
};

TEST_CASE("policies are counted for the homes and sizes asked for", "[cli]") {
  const Fixture fixture;
  const Answer answer = RunCommand(kPoliciesCommand, {"--replication",
                                                      "0.1,0.4",
                                                      "--fanouts",
                                                      "3,2",
                                                      "--batch-size",
                                                      "4",
                                                      "--homes",
                                                      "1,3/0,2",
                                                      "--depth",
                                                      "2",
                                                      "--windows",
                                                      "2,6",
                                                      "--epochs",
                                                      "1",
                                                      "--simulated-epochs",
                                                      "1",
                                                      fixture.path(),
                                                      "--format",
                                                      "json",
                                                      "--picture",
                                                      fixture.picture()});
  CAPTURE(answer.narration);
  REQUIRE(answer.code == ExitCode::kOk);
  const nlohmann::json json = nlohmann::json::parse(answer.out);
  CHECK(json["trainers"] == 2);
  CHECK(json["epochs"] == 1);
  CHECK(json["depth"] == 2);
  CHECK(json["sizes"].size() == 2);
  CHECK(json["policies"].back()["policy"] == "belady");
  std::ifstream file(fixture.picture());
  const std::string svg((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  CHECK_THAT(svg, Catch::StartsWith("<svg") && Catch::Contains("next-use-6"));
}

TEST_CASE("people get a table and a chart", "[cli]") {
  const Fixture fixture;
  const Answer answer =
      RunCommand(kPoliciesCommand, {fixture.path(), "--fanouts", "3,2", "--batch-size", "8"});
  REQUIRE(answer.code == ExitCode::kOk);
  CHECK_THAT(answer.out, Catch::Contains("simulated-frequency") && Catch::Contains("|"));
}

TEST_CASE("policies of what is not there are refused", "[cli]") {
  const Fixture fixture;
  std::vector<std::string> args = {fixture.path()};
  ExitCode expected = ExitCode::kUsage;
  SECTION("no such shard") { args.insert(args.end(), {"--homes", "0,4"}); }
  SECTION("size") { args.insert(args.end(), {"--replication", "-1"}); }
  SECTION("depth") { args.insert(args.end(), {"--depth", "0"}); }
  SECTION("window") { args.insert(args.end(), {"--windows=-3"}); }
  SECTION("batch") { args.insert(args.end(), {"--batch-size", "0"}); }
  SECTION("no seeds") {
    args.insert(args.end(), {"--seed-type", "item"});
    expected = ExitCode::kPrecondition;
  }
  SECTION("no dataset") {
    args = {fixture.path() + "x"};
    expected = ExitCode::kNotFound;
  }
  SECTION("no folder for the picture") {
    args.insert(args.end(), {"--picture", fixture.path() + "/none/p.svg", "--fanouts", "2",
                             "--batch-size", "64"});
    expected = ExitCode::kNotFound;
  }
  CHECK(RunCommand(kPoliciesCommand, args).code == expected);
}

TEST_CASE("of damaged files nothing is counted", "[cli]") {
  const Fixture fixture;
  const std::string file = fixture.path() + "/shard-00001/" +
                           GENERATE("edges.user.knows.user.sources", "nodes.user.column.split");
  testing::FlipBit(file, 75);
  const Answer damaged = RunCommand(kPoliciesCommand, {fixture.path(), "--fanouts", "3,2"});
  CHECK(damaged.code == ExitCode::kBadData);
  CHECK(damaged.out.empty());
  CHECK_THAT(damaged.narration, Catch::Contains(file + ": the page at byte 0: checksum is"));
}

TEST_CASE("policies are counted on a query's answers", "[cli]") {
  const Fixture fixture;
  const std::string query =
      GENERATE("src = nodes(user, $seeds); w = walk(src, user:knows:user, 4)",
               "src = nodes(user, $seeds); items = layer(src, item:bought_by:user, 6)");
  const Answer answer = RunCommand(
      kPoliciesCommand,
      {fixture.path(), "--batch-size", "4", "--depth", "1", "--query", query, "--format", "json"});
  CAPTURE(answer.narration);
  REQUIRE(answer.code == ExitCode::kOk);
  const nlohmann::json json = nlohmann::json::parse(answer.out);
  CHECK(json["trainers"] == 4);
  CHECK(json["rows_used_per_epoch"] > 0);
  double none = 0, own = -1;
  for (const nlohmann::json& policy : json["policies"]) {
    const double fetched = policy["rows_fetched_per_epoch"].back();
    if (policy["policy"] == "none") none = fetched;
    if (policy["policy"] == "query-ranking") own = fetched;
  }
  CHECK(own >= 0);
  CHECK(own < none);
  CHECK(RunCommand(kPoliciesCommand, {fixture.path(), "--query", query, "--fanouts", "3"}).code ==
        ExitCode::kUsage);
}

}  // namespace
}  // namespace vicinity::cli
