#include "client/cli/commands/import_command.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/cli/commands/describe_command.h"
#include "partition/cut/node_facts.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/schema/schema.h"
#include "tests/client/cli/run_command.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

class Fixture {
 public:
  Fixture() {
    Write("edges.txt", "# source target\n0 1\n0 1\n1 1\n2 3\n");
    Write("x.txt", "1 2\n3 4\n5 6\n7 8\n");
    Write("y.txt", "0\n1\n-1\n2\n");
    Write("train.txt", "0\n3\n");
  }
  std::string File(const std::string& name) const { return folder_.File(name); }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(File(name)) << text;
  }

 private:
  const testing::TempDir folder_;
};

TEST_CASE("a graph of one type is imported by flags alone", "[cli]") {
  const Fixture fixture;
  const Answer answer = RunCommand(
      kImportCommand, {"--edges", fixture.File("edges.txt"), "--num-nodes", "4", "--features",
                       fixture.File("x.txt"), "--labels", fixture.File("y.txt"), "--train",
                       fixture.File("train.txt"), "--dedup", "--drop-self-loops", "--add-reverse",
                       "--output", fixture.File("d"), "--format", "json"});
  CAPTURE(answer.narration);
  REQUIRE(answer.code == ExitCode::kOk);
  const nlohmann::json report = nlohmann::json::parse(answer.out);
  CHECK(report["nodes"][0]["train"] == 2);
  CHECK(report["nodes"][0]["num_classes"] == 3);
  CHECK(report["edges"][0]["read"] == 4);
  CHECK(report["edges"][0]["stored"] == 4);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(fixture.File("d")));
  CHECK(dataset->manifest().name() == "edges");
  CHECK(NumNodes(*dataset) == 4);
  CHECK(NumEdges(*dataset) == 4);
}

TEST_CASE("reversed edges join their type or are one of their own, not both", "[cli]") {
  const Fixture fixture;
  const std::vector<std::string> flags = {
      "--edges",  fixture.File("edges.txt"), "--num-nodes", "4",
      "--output", fixture.File("d"),         "--format",    "json"};
  const auto import = [&flags](const std::vector<std::string>& more) {
    std::vector<std::string> all = flags;
    all.insert(all.end(), more.begin(), more.end());
    return RunCommand(kImportCommand, all);
  };
  const Answer both = import({"--add-reverse", "--add-reverse-apart"});
  CHECK(both.code == ExitCode::kUsage);
  CHECK_THAT(both.narration,
             Catch::Contains("do not go together") && Catch::Contains("--add-reverse-apart"));
  const Answer apart = import({"--add-reverse-apart"});
  CAPTURE(apart.narration);
  REQUIRE(apart.code == ExitCode::kOk);
  const nlohmann::json report = nlohmann::json::parse(apart.out);
  REQUIRE(report["edges"].size() == 2);
  CHECK(report["edges"][1]["name"] == "node:rev_link:node");
  CHECK(report["edges"][1]["read"] == 0);
  CHECK(report["edges"][1]["stored"] == report["edges"][0]["stored"]);
}

TEST_CASE("a description names files beside itself, and flags add to it", "[cli]") {
  const Fixture fixture;
  fixture.Write("g.textproto",
                "name: 'g'\n"
                "nodes { name: 'a' count: 4 columns { name: 'x' array { path: 'x.txt' } } }\n"
                "edges { source: 'a' relation: 'r' target: 'a' ends { path: 'edges.txt' } }\n");
  const Answer answer = RunCommand(kImportCommand, {"--description", fixture.File("g.textproto"),
                                                    "--dedup", "--output", fixture.File("d")});
  CAPTURE(answer.narration);
  REQUIRE(answer.code == ExitCode::kOk);
  CHECK_THAT(answer.out, Catch::Contains("a:r:a"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(fixture.File("d")));
  CHECK(NumEdges(*dataset) == 3);
}

// A row of node 0's column `column`, as the dataset has it.
template <typename T>
T FirstValue(const Dataset& dataset, size_t column) {
  T value;
  std::memcpy(&value, dataset.shard({0})->nodes({0}).columns[column].row(0).data(), sizeof(T));
  return value;
}

TEST_CASE("what a CSV says is what the dataset holds: integers, times, truth values, nothing",
          "[cli]") {
  const Fixture fixture;
  fixture.Write("n.csv",
                "id,when,stamp,paid,score,class\n"
                "#a,2020-01-01T00:00:01Z,1577836801,True,,2\n"
                "#b,2020-01-01T00:00:03Z,1577836803,False,0.5,\n");
  fixture.Write("e.csv", "#a,#b\n#b,#a\n");
  std::string columns;
  const std::vector<std::string> names = {"when", "stamp", "paid", "score"};
  for (size_t i = 0; i < names.size(); ++i) {
    columns += "columns { name: '" + names[i] +
               "' array { path: 'n.csv' header: true columns: " + std::to_string(i + 1) + " } }\n";
  }
  fixture.Write("g.textproto",
                "nodes { name: 'n' ids { path: 'n.csv' header: true columns: 0 }\n" + columns +
                    "label { array { path: 'n.csv' header: true columns: 5 } } }\n"
                    "edges { source: 'n' relation: 'r' target: 'n' ends { path: 'e.csv' } }\n");
  const Answer answer =
      RunCommand(kImportCommand, {"--description", fixture.File("g.textproto"), "--output",
                                  fixture.File("d"), "--format", "json"});
  CAPTURE(answer.narration);
  REQUIRE(answer.code == ExitCode::kOk);
  const nlohmann::json report = nlohmann::json::parse(answer.out);
  CHECK(report["nodes"][0]["labelled"] == 1);
  CHECK(report["edges"][0]["stored"] == 2);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(fixture.File("d")));
  const std::vector<ColumnSpec>& specs = dataset->schema().node_types[0].columns;
  CHECK(specs[0].dtype == DType::kInt64);
  CHECK(FirstValue<int64_t>(*dataset, 0) == 1577836801);
  CHECK(specs[1].dtype == DType::kInt64);
  CHECK(FirstValue<int64_t>(*dataset, 1) == 1577836801);
  CHECK(specs[2].dtype == DType::kBool);
  CHECK(FirstValue<uint8_t>(*dataset, 2) == 1);
  CHECK(specs[3].dtype == DType::kFloat32);
  CHECK(std::isnan(FirstValue<float>(*dataset, 3)));
  CHECK(FirstValue<int32_t>(*dataset, 4) == 2);
}

TEST_CASE("each way to fail to import has its exit code and leaves nothing", "[cli]") {
  const Fixture fixture;
  std::vector<std::string> args = {"--output", fixture.File("d")};
  ExitCode expected = ExitCode::kBadData;
  std::string text;
  SECTION("an edge out of range") {
    args.insert(args.end(), {"--edges", fixture.File("edges.txt"), "--num-nodes", "3"});
    text = "edges.txt";
  }
  SECTION("features that do not match") {
    args.insert(args.end(), {"--edges", fixture.File("edges.txt"), "--num-nodes", "5", "--features",
                             fixture.File("x.txt")});
    text = "x.txt";
  }
  SECTION("a missing value among integers") {
    fixture.Write("n.csv", "7,1\n8,\n9,1\n7,1\n");
    args.insert(args.end(), {"--edges", fixture.File("edges.txt"), "--num-nodes", "4", "--features",
                             fixture.File("n.csv")});
    text = "line 2: field 1";
  }
  SECTION("a file of another kind") {
    args.insert(args.end(), {"--edges", fixture.File("edges.txt"), "--num-nodes", "4", "--features",
                             fixture.File("x.parquet")});
    text = "pandas.read_parquet";
  }
  SECTION("names in Latin-1") {
    fixture.Write("ids.csv", "a\nb\ncaf\xE9\nd\n");
    args.insert(args.end(),
                {"--edges", fixture.File("edges.txt"), "--ids", fixture.File("ids.csv")});
    text = "line 3: field 0: 'caf\\xe9' is not UTF-8";
  }
  SECTION("a description that is none") {
    fixture.Write("g.textproto", "nodes {\n count: 'many'\n}\n");
    args.insert(args.end(), {"--description", fixture.File("g.textproto")});
    text = "g.textproto:2:";
  }
  SECTION("a missing file") {
    args.insert(args.end(), {"--edges", fixture.File("no.txt")});
    expected = ExitCode::kNotFound;
    text = "no.txt";
  }
  SECTION("no edges") {
    expected = ExitCode::kUsage;
    text = "--edges";
  }
  SECTION("two descriptions") {
    args.insert(args.end(), {"--edges", "e.txt", "--description", "g.textproto"});
    expected = ExitCode::kUsage;
    text = "--description";
  }
  SECTION("no output") {
    args = {"--edges", fixture.File("edges.txt")};
    expected = ExitCode::kUsage;
    text = "--output";
  }
  const Answer answer = RunCommand(kImportCommand, args);
  CHECK(answer.code == expected);
  CHECK_THAT(answer.narration, Catch::Contains(text));
  CHECK(answer.out.empty());
  CHECK_FALSE(std::filesystem::exists(fixture.File("d")));
}

TEST_CASE("targets are columns that describe shows as such", "[cli]") {
  const Fixture fixture;
  fixture.Write("t.csv", "True,False,True\nFalse,False,False\nTrue,True,True\nFalse,True,False\n");
  const Answer answer = RunCommand(
      kImportCommand, {"--edges", fixture.File("edges.txt"), "--num-nodes", "4", "--targets",
                       fixture.File("t.csv"), "--output", fixture.File("d")});
  CAPTURE(answer.narration);
  REQUIRE(answer.code == ExitCode::kOk);
  const Answer table = RunCommand(kDescribeCommand, {"--data", fixture.File("d")});
  CHECK_THAT(table.out, Catch::Contains("target bool[3]") && Catch::Contains("target: target"));
  const Answer json =
      RunCommand(kDescribeCommand, {"--data", fixture.File("d"), "--format", "json"});
  CHECK(nlohmann::json::parse(json.out)["node_types"][0]["target_column"] == "target");
}

TEST_CASE("an output that is there stays as it is", "[cli]") {
  const Fixture fixture;
  fixture.Write("d", "precious");
  const Answer answer = RunCommand(
      kImportCommand, {"--edges", fixture.File("edges.txt"), "--output", fixture.File("d")});
  CHECK(answer.code == ExitCode::kPrecondition);
  CHECK(std::filesystem::file_size(fixture.File("d")) == 8);
}

}  // namespace
}  // namespace vicinity::cli
