#include "partition/ingest/generate_rmat.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/ingest/ingest_report.h"
#include "partition/schema/schema.h"
#include "partition/writing/audit.h"
#include "proto/common/progress.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

std::unique_ptr<Dataset> Generate(const testing::TempDir& dir, const std::string& name,
                                  const RmatOptions& options, IngestReport* report = nullptr) {
  VICINITY_ASSERT_OK_AND_ASSIGN(const IngestReport made,
                                GenerateRmat(options, dir.File(name), NoProgress()));
  if (report != nullptr) *report = made;
  VICINITY_ASSERT_OK_AND_ASSIGN(auto dataset, Dataset::Open(dir.File(name)));
  return dataset;
}

// (source, target) of every edge.
std::vector<std::pair<int64_t, int64_t>> Edges(const Dataset& dataset) {
  const EdgeTable& table = dataset.shard({0})->edges({0});
  std::vector<std::pair<int64_t, int64_t>> edges;
  for (int64_t node = 0; node < table.num_targets(); ++node) {
    for (int64_t i = table.begin(node); i < table.begin(node) + table.degree(node); ++i) {
      edges.emplace_back(table.sources[i], node);
    }
  }
  return edges;
}

TEST_CASE("edges fall into the four quadrants with the chances asked for, at every level",
          "[generate]") {
  const testing::TempDir dir;
  RmatOptions options;
  options.scale = 12;
  options.edges_per_node = 16;
  options.a = 0.5;
  options.b = 0.25;
  options.c = 0.15;
  options.shuffle = false;
  const auto dataset = Generate(dir, "g", options);
  const auto edges = Edges(*dataset);
  REQUIRE(edges.size() == 65536);
  const double chances[] = {0.5, 0.25, 0.15, 0.1};
  for (int level = 0; level < 12; ++level) {
    double counts[4] = {};
    for (const auto& [source, target] : edges) {
      ++counts[(source >> level & 1) * 2 + (target >> level & 1)];
    }
    double chi_square = 0;
    for (int q = 0; q < 4; ++q) {
      const double expected = 65536 * chances[q];
      chi_square += (counts[q] - expected) * (counts[q] - expected) / expected;
    }
    CHECK(chi_square < 21.1);  // the 99.99 % point of 3 degrees of freedom
  }
}

TEST_CASE("the same options make the same dataset, another seed another", "[generate]") {
  const testing::TempDir dir;
  RmatOptions options;
  options.scale = 10;
  options.columns = {{"x", DType::kFloat16, 7}, {"i", DType::kInt64, 1}};
  options.splits = {0.1, 0.1, 0.1};
  const uint64_t fingerprint = Generate(dir, "a", options)->fingerprint();
  CHECK(fingerprint == Generate(dir, "b", options)->fingerprint());
  options.seed = 2;
  CHECK(fingerprint != Generate(dir, "c", options)->fingerprint());
  VICINITY_CHECK_OK(VerifyDataset(dir.File("c"), NoProgress()));
}

TEST_CASE("shuffling renumbers nodes and nothing else", "[generate]") {
  const testing::TempDir dir;
  RmatOptions options;
  options.scale = GENERATE(1, 5, 10);
  options.shuffle = false;
  IngestReport plain;
  IngestReport shuffled;
  Generate(dir, "plain", options, &plain);
  options.shuffle = true;
  Generate(dir, "shuffled", options, &shuffled);
  CHECK(plain.edges[0].max_degree == shuffled.edges[0].max_degree);
  CHECK(plain.nodes[0].isolated == shuffled.nodes[0].isolated);
}

TEST_CASE("symmetric, without duplicates and self-loops, as asked for", "[generate]") {
  const testing::TempDir dir;
  RmatOptions options;
  options.scale = 8;
  options.symmetric = true;
  options.dedup = true;
  options.drop_self_loops = true;
  IngestReport report;
  const auto dataset = Generate(dir, "g", options, &report);
  const auto edges = Edges(*dataset);
  const std::set<std::pair<int64_t, int64_t>> distinct(edges.begin(), edges.end());
  CHECK(distinct.size() == edges.size());
  for (const auto& [source, target] : edges) {
    CHECK(source != target);
    CHECK(distinct.count({target, source}) == 1);
  }
  const IngestReport::Edges& made = report.edges[0];
  CHECK(made.read == 4096);
  CHECK(made.read + made.reversed - made.self_loops_dropped - made.duplicates_dropped ==
        made.stored);
  CHECK(made.stored == static_cast<int64_t>(edges.size()));
}

TEST_CASE("weights leave the edges as they are, and make them ready to be drawn by", "[generate]") {
  const testing::TempDir dir;
  RmatOptions options;
  options.scale = 8;
  const auto plain = Generate(dir, "plain", options);
  options.weights = true;
  const auto weighted = Generate(dir, "weighted", options);
  CHECK(Edges(*weighted) == Edges(*plain));
  CHECK(weighted->schema().edge_types[0].weight_column == "weight");
  const EdgeTable& table = weighted->shard({0})->edges({0});
  CHECK(table.weights.size() == static_cast<size_t>(table.num_edges()));
  double sum = 0;
  for (int64_t i = 0; i < table.num_edges(); ++i) {
    float weight = 0;
    std::memcpy(&weight, table.columns[0].row(i).data(), sizeof(weight));
    REQUIRE(weight > 0);
    REQUIRE(weight <= 1);
    sum += weight;
  }
  CHECK(sum / static_cast<double>(table.num_edges()) == Approx(0.5).margin(0.05));
}

TEST_CASE("a graph of one node is a graph", "[generate]") {
  const testing::TempDir dir;
  RmatOptions options;
  options.scale = 0;
  CHECK(Edges(*Generate(dir, "g", options)).size() == 16);
}

TEST_CASE("impossible options are refused", "[generate]") {
  const auto check = [](auto change) {
    RmatOptions options;
    change(&options);
    VICINITY_CHECK_CODE(options.Validate(), absl::StatusCode::kInvalidArgument);
  };
  VICINITY_CHECK_OK(RmatOptions().Validate());
  check([](RmatOptions* o) { o->scale = -1; });
  check([](RmatOptions* o) { o->scale = 32; });
  check([](RmatOptions* o) { o->edges_per_node = -1; });
  check([](RmatOptions* o) { o->edges_per_node = std::nan(""); });
  check([](RmatOptions* o) { o->edges_per_node = 1e30; });
  check([](RmatOptions* o) { o->a = 1.5; });
  check([](RmatOptions* o) { o->b = -0.1; });
  check([](RmatOptions* o) { o->columns = {{"x", DType::kInt8, 0}}; });
  check([](RmatOptions* o) { o->splits.train = 2; });
}

}  // namespace
}  // namespace vicinity
