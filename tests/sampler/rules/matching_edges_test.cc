#include "sampler/rules/matching_edges.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset/dataset.h"
#include "partition/schema/edge_conditions.h"
#include "proto/common/ids.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

constexpr EdgeTypeId kLinks{0};

// Positions of [begin, end) that meet, as the bits say.
std::vector<int64_t> Positions(const MatchingEdges& edges, int64_t begin, int64_t end) {
  const MatchingEdges::Some some = edges.Among(begin, end);
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < some.count; ++i) positions.push_back(edges.Select(some, i));
  return positions;
}

TEST_CASE("bits find the edges of any range that meet, in order", "[matching_edges]") {
  // Around the borders of words and blocks (64 and 384), nearly none, some, nearly all of them.
  const int64_t size = GENERATE(0, 1, 63, 64, 65, 383, 384, 385, 768, 2000);
  const int parts = GENERATE(0, 1, 100, 999, 1000);
  std::mt19937_64 random(static_cast<uint64_t>(size * 1001 + parts));
  std::vector<uint8_t> meets(size);
  for (uint8_t& one : meets) one = static_cast<int>(random() % 1000) < parts ? 1 : 0;
  const MatchingEdges edges(meets);
  CHECK(edges.num_bytes() == MatchingEdges::BytesFor(size));
  for (int round = 0; round < 200; ++round) {
    const auto begin = static_cast<int64_t>(random() % (size + 1));
    const int64_t end = begin + static_cast<int64_t>(random() % (size - begin + 1));
    std::vector<int64_t> expected;
    for (int64_t at = begin; at < end; ++at) {
      if (meets[at] != 0) expected.push_back(at);
    }
    REQUIRE(Positions(edges, begin, end) == expected);
  }
}

TEST_CASE("a shard's edges that meet a condition are those that its columns say",
          "[matching_edges]") {
  testing::RandomGraphOptions options;
  options.num_nodes = 20;
  options.num_edges = 1500;
  options.weights = true;
  options.times = true;
  const testing::MemoryGraph graph = testing::RandomGraph(options);
  const testing::TempDir dir;
  VICINITY_REQUIRE_OK(WriteGraph(graph, dir.File("graph")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(dir.File("graph")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto where,
                                ResolveByEdgeType(graph.schema, "weight > 0.8 or time = -3"));
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const MatchingEdges edges,
      MatchingEdges::Find(*dataset->shard({0}), kLinks, *where[0], [] { return false; }));
  const EdgeTable& table = dataset->shard({0})->edges(kLinks);
  int64_t found = 0;
  for (int64_t target = 0; target < options.num_nodes; ++target) {
    std::vector<int64_t> expected;
    for (const testing::InEdge& edge : graph.InEdges(kLinks, target)) {
      float weight = 0;
      int64_t time = 0;
      std::memcpy(&weight, graph.edge_row(kLinks, 0, edge.edge_id).data(), sizeof(weight));
      std::memcpy(&time, graph.edge_row(kLinks, 1, edge.edge_id).data(), sizeof(time));
      if (weight > 0.8F || time == -3) expected.push_back(edge.edge_id);
    }
    std::vector<int64_t> got;
    for (const int64_t at :
         Positions(edges, table.begin(target), table.begin(target) + table.degree(target))) {
      got.push_back(table.edge_ids[at]);
    }
    CHECK(got == expected);
    found += static_cast<int64_t>(got.size());
  }
  CHECK(found > 100);
  VICINITY_CHECK_CODE(
      MatchingEdges::Find(*dataset->shard({0}), kLinks, *where[0], [] { return true; }).status(),
      absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace vicinity
