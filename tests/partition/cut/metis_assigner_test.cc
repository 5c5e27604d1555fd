#include "partition/cut/metis_assigner.h"

#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "partition/cut/assigner.h"
#include "partition/cut/metis_graph.h"
#include "partition/dataset/dataset.h"
#include "proto/common/progress.h"
#include "tests/contract/assigner_contract.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using EdgeList = std::vector<std::pair<int64_t, int64_t>>;

// Keeps what it is told.
class Notes : public Progress {
 public:
  void Begin(std::string_view, int64_t, std::string_view) override {}
  void Update(int64_t) override {}
  void End() override {}
  void Note(std::string_view line) override { text.append(line).append("\n"); }
  std::string text;
};

class Fixture {
 public:
  Fixture() {
    options_.program = "tests/partition/cut/metis_child_program";
    options_.scratch_directory = folder_.path();
  }

  void Use(const testing::MemoryGraph& graph) {
    const std::string path = folder_.File("d" + std::to_string(num_graphs_++));
    VICINITY_REQUIRE_OK(testing::WriteGraph(graph, path));
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset_, Dataset::Open(path));
  }
  void Use(int64_t num_nodes, const EdgeList& edges, bool splits = false) {
    testing::RandomGraphOptions options;
    options.num_nodes = num_nodes;
    options.num_edges = 0;
    options.splits = splits;
    testing::MemoryGraph graph = testing::RandomGraph(options);
    for (const auto& [source, target] : edges) {
      graph.edges[0].sources.push_back(source);
      graph.edges[0].targets.push_back(target);
    }
    Use(graph);
  }

  // Makes a program that does something else than METIS.
  void UseProgram(const std::string& script) {
    options_.program = folder_.File("program");
    std::ofstream(options_.program) << "#!/bin/sh\n" << script << '\n';
    REQUIRE(chmod(options_.program.c_str(), 0700) == 0);
  }

  absl::StatusOr<Assignment> Assign(int32_t num_shards, Progress* progress = NoProgress()) {
    return MetisAssigner(options_).Assign(*dataset_, num_shards, progress);
  }
  MetisOptions& options() { return options_; }
  const Dataset& dataset() { return *dataset_; }
  // Nothing is left behind but the datasets and the program.
  void CheckScratchIsEmpty() {
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      CHECK_THAT(entry.path().filename().string(), !Catch::StartsWith("vicinity_metis"));
    }
  }

 private:
  const testing::TempDir folder_;
  MetisOptions options_;
  std::unique_ptr<Dataset> dataset_;
  int num_graphs_ = 0;
};

std::vector<int64_t> Loads(const Assignment& assignment) {
  std::vector<int64_t> loads(assignment.num_shards);
  for (const std::vector<int32_t>& shard_of : assignment.shard_of) {
    for (const int32_t shard : shard_of) ++loads.at(shard);
  }
  return loads;
}

// Two cliques of `size` nodes with one edge between them.
EdgeList TwoCliques(int64_t size) {
  EdgeList edges;
  for (int64_t a = 0; a < size; ++a) {
    for (int64_t b = a + 1; b < size; ++b) {
      edges.push_back({a, b});
      edges.push_back({size + a, size + b});
    }
  }
  edges.push_back({0, size});
  return edges;
}

TEST_CASE("METIS finds the cut that is plain to see", "[partition]") {
  Fixture fixture;
  fixture.Use(40, TwoCliques(20));
  VICINITY_ASSERT_OK_AND_ASSIGN(const Assignment assignment, fixture.Assign(2));
  const std::vector<int32_t>& shard_of = assignment.shard_of[0];
  for (int64_t node = 0; node < 40; ++node) CHECK(shard_of[node] == shard_of[node < 20 ? 0 : 20]);
  CHECK(shard_of[0] != shard_of[20]);
  fixture.CheckScratchIsEmpty();
}

TEST_CASE("METIS balances train nodes, validation nodes, other nodes and in-edges", "[partition]") {
  Fixture fixture;
  testing::RandomGraphOptions options;
  options.num_nodes = 20000;
  options.num_edges = 100000;
  fixture.Use(testing::RandomGraph(options));
  const NodeWeights weights(fixture.dataset());
  REQUIRE(weights.present().size() == 4);
  const int32_t num_shards = GENERATE(2, 4, 8);
  VICINITY_ASSERT_OK_AND_ASSIGN(const Assignment assignment, fixture.Assign(num_shards));
  for (const Constraint constraint : weights.present()) {
    std::vector<int64_t> loads(num_shards);
    for (int64_t node = 0; node < weights.num_nodes(); ++node) {
      loads.at(assignment.shard_of[0][node]) += weights.weight(node, constraint);
    }
    const double mean = static_cast<double>(weights.total(constraint)) / num_shards;
    CAPTURE(ConstraintName(constraint), num_shards);
    CHECK(static_cast<double>(*std::max_element(loads.begin(), loads.end())) <= 1.07 * mean);
  }
}

TEST_CASE("METIS' assigner keeps the contract of all", "[partition]") {
  const testing::TempDir scratch;
  testing::AssignerKind kind;
  kind.make = [&](const Dataset&, int32_t) {
    MetisOptions options;
    options.program = "tests/partition/cut/metis_child_program";
    options.scratch_directory = scratch.path();
    return std::make_unique<MetisAssigner>(options);
  };
  kind.balance = 1.07;
  testing::CheckAssigner(kind);
}

TEST_CASE("typed graphs are cut as one", "[partition]") {
  Fixture fixture;
  fixture.Use(testing::TypedGraph(300, 200, 20, 7));
  VICINITY_ASSERT_OK_AND_ASSIGN(const Assignment assignment, fixture.Assign(4));
  for (const int64_t load : Loads(assignment)) CHECK(load > 0);
}

TEST_CASE("graphs that METIS has trouble with are cut all the same", "[partition]") {
  const bool splits = GENERATE(false, true);
  Fixture fixture;
  EdgeList edges;
  int64_t num_nodes = 200;
  SECTION("every edge many times, both ways") {
    for (int i = 0; i < 5; ++i) {
      for (int64_t v = 0; v + 1 < num_nodes; ++v) {
        edges.push_back({v, v + 1});
        edges.push_back({v + 1, v});
      }
    }
  }
  SECTION("nothing but self-loops") {
    for (int64_t v = 0; v < num_nodes; ++v) edges.push_back({v, v});
  }
  SECTION("no edges") {}
  SECTION("one edge among isolated nodes") { edges.push_back({3, 4}); }
  SECTION("isolated nodes beside a clique") {
    for (int64_t a = 0; a < 20; ++a) {
      for (int64_t b = 0; b < 20; ++b) edges.push_back({a, b});
    }
  }
  SECTION("a star towards its centre") {
    for (int64_t v = 1; v < num_nodes; ++v) edges.push_back({v, 0});
  }
  SECTION("a star from its centre") {
    for (int64_t v = 1; v < num_nodes; ++v) edges.push_back({0, v});
  }
  SECTION("a long chain") {
    num_nodes = 100000;
    for (int64_t v = 0; v + 1 < num_nodes; ++v) edges.push_back({v, v + 1});
  }
  SECTION("fewer nodes than METIS likes") {
    num_nodes = 8;
    for (int64_t v = 0; v + 1 < num_nodes; ++v) edges.push_back({v, v + 1});
  }
  fixture.Use(num_nodes, edges, splits);
  for (const int32_t num_shards : {1, 2, 8}) {
    CAPTURE(num_shards, splits);
    VICINITY_ASSERT_OK_AND_ASSIGN(const Assignment assignment, fixture.Assign(num_shards));
    REQUIRE(assignment.shard_of.size() == 1);
    CHECK(assignment.shard_of[0].size() == static_cast<size_t>(num_nodes));
    CHECK(Loads(assignment).size() == static_cast<size_t>(num_shards));  // at() checked the range
  }
}

TEST_CASE("without edges every kind of node is dealt out evenly", "[partition]") {
  Fixture fixture;
  fixture.Use(1000, {}, /*splits=*/true);
  const NodeWeights weights(fixture.dataset());
  VICINITY_ASSERT_OK_AND_ASSIGN(const Assignment assignment, fixture.Assign(3));
  for (const Constraint constraint : weights.present()) {
    std::vector<int64_t> loads(3);
    for (int64_t node = 0; node < 1000; ++node) {
      loads.at(assignment.shard_of[0][node]) += weights.weight(node, constraint);
    }
    CHECK(*std::max_element(loads.begin(), loads.end()) -
              *std::min_element(loads.begin(), loads.end()) <=
          1);
  }
}

TEST_CASE("balance that METIS misses is told", "[partition]") {
  Fixture fixture;
  EdgeList star;
  for (int64_t v = 1; v < 100; ++v) star.push_back({v, 0});
  fixture.Use(100, star);  // all in-edges are one node's
  Notes notes;
  VICINITY_CHECK_OK(fixture.Assign(2, &notes).status());
  CHECK_THAT(notes.text, Catch::Contains("missed the balance of in-edges"));
}

TEST_CASE("a crash of METIS is an error that names the signal and another way", "[partition]") {
  Fixture fixture;
  fixture.Use(40, TwoCliques(20));
  fixture.UseProgram("kill -SEGV $$");
  const absl::Status status = fixture.Assign(2).status();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kAborted);
  CHECK_THAT(std::string(status.message()),
             Catch::Contains("signal 11") && Catch::Contains("hash"));
  fixture.CheckScratchIsEmpty();
}

TEST_CASE("METIS is stopped at its time limit", "[partition]") {
  Fixture fixture;
  fixture.Use(40, TwoCliques(20));
  fixture.UseProgram("exec sleep 1000");
  fixture.options().time_limit = absl::Milliseconds(100);
  VICINITY_CHECK_CODE(fixture.Assign(2).status(), absl::StatusCode::kDeadlineExceeded);
  fixture.CheckScratchIsEmpty();
}

TEST_CASE("a child that answers nonsense is not believed", "[partition]") {
  Fixture fixture;
  fixture.Use(40, TwoCliques(20));
  fixture.UseProgram("true");  // no result at all
  VICINITY_CHECK_CODE(fixture.Assign(2).status(), absl::StatusCode::kNotFound);
  fixture.UseProgram("printf 1234 >$2.parts");
  VICINITY_CHECK_CODE(fixture.Assign(2).status(), absl::StatusCode::kDataLoss);
  fixture.UseProgram("head -c 164 /dev/zero | tr '\\0' '\\377' >$2.parts");  // part -1
  VICINITY_CHECK_CODE(fixture.Assign(2).status(), absl::StatusCode::kDataLoss);
}

TEST_CASE("options that make no sense are refused", "[partition]") {
  Fixture fixture;
  fixture.Use(40, TwoCliques(20));
  SECTION("no program") { fixture.options().program.clear(); }
  SECTION("no scratch directory") { fixture.options().scratch_directory.clear(); }
  SECTION("no time") { fixture.options().time_limit = absl::ZeroDuration(); }
  SECTION("no tolerance") { fixture.options().tolerance[2] = 1; }
  SECTION("not a number") { fixture.options().tolerance[0] = std::nan(""); }
  VICINITY_CHECK_CODE(fixture.Assign(2).status(), absl::StatusCode::kInvalidArgument);
}

TEST_CASE("the estimate grows with the graph and covers the job's file", "[partition]") {
  Fixture fixture;
  fixture.Use(40, TwoCliques(20));
  const WorkEstimate one = MetisAssigner(fixture.options()).Estimate(fixture.dataset(), 1);
  const WorkEstimate two = MetisAssigner(fixture.options()).Estimate(fixture.dataset(), 2);
  CHECK(one.disk_bytes == 0);
  CHECK(two.disk_bytes >= 2 * 381 * 4);
  CHECK(two.memory_bytes > two.disk_bytes);
}

}  // namespace
}  // namespace vicinity
