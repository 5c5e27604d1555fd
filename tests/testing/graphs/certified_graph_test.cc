#include "tests/testing/graphs/certified_graph.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "partition/dataset/book.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/ranking.h"
#include "partition/dataset/shard.h"
#include "proto/common/checksum.h"
#include "proto/common/ids.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::testing {
namespace {

CertifiedShape Shape(int64_t num_nodes, int32_t num_shards, uint64_t version = 1) {
  CertifiedShape shape;
  shape.num_nodes = num_nodes;
  shape.num_shards = num_shards;
  shape.version = version;
  return shape;
}

// Puts the right checksum on a row that was tampered with.
std::string Sealed(std::string row) {
  const size_t end = row.size() - sizeof(uint64_t);
  const uint64_t checksum = Checksum(std::string_view(row).substr(0, end));
  row.replace(end, sizeof(checksum), reinterpret_cast<const char*>(&checksum), sizeof(checksum));
  return row;
}

TEST_CASE("every bit of a row is certified", "[certified_graph]") {
  CertifiedShape shape = Shape(100, 1);
  shape.row_bytes = GENERATE(24, 32, 56, 64, 104);
  const CertifiedGraph graph(shape);
  const std::string row = graph.Row(7);
  CHECK(graph.CheckRow(7, row) == RowFault::kNone);
  for (size_t bit = 0; bit < row.size() * 8; ++bit) {
    std::string damaged = row;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    REQUIRE(graph.CheckRow(7, damaged) == RowFault::kDamaged);
  }
}

TEST_CASE("each way a row can be wrong has its name", "[certified_graph]") {
  const CertifiedGraph graph(Shape(100, 1));
  const CertifiedGraph other(Shape(100, 1, 2));
  const std::string row = graph.Row(7);
  CHECK(graph.CheckRow(7, row.substr(1)) == RowFault::kWrongSize);
  CHECK(graph.CheckRow(7, "") == RowFault::kWrongSize);
  CHECK(graph.CheckRow(7, std::string(row.size(), '\0')) == RowFault::kDamaged);
  CHECK(graph.CheckRow(7, row.substr(0, 32) + graph.Row(8).substr(32)) == RowFault::kDamaged);
  CHECK(graph.CheckRow(7, graph.Row(8)) == RowFault::kOtherNode);
  CHECK(graph.CheckRow(7, other.Row(7)) == RowFault::kOtherVersion);
  CHECK(other.CheckRow(7, other.Row(7)) == RowFault::kNone);
  std::string made_up = row;
  made_up[30] = static_cast<char>(made_up[30] ^ 1);
  CHECK(graph.CheckRow(7, Sealed(made_up)) == RowFault::kMadeUp);
}

TEST_CASE("nodes have places and places nodes, for any number of nodes", "[certified_graph]") {
  for (const int64_t num_nodes : {1, 2, 3, 4, 12, 97, 1000, 4096}) {
    const CertifiedGraph graph(Shape(num_nodes, 1));
    std::set<int64_t> places;
    for (int64_t id = 0; id < num_nodes; ++id) {
      places.insert(graph.GlobalOf(id));
      REQUIRE(graph.IdOf(graph.GlobalOf(id)) == id);
    }
    CHECK(static_cast<int64_t>(places.size()) == num_nodes);
    CHECK(*places.begin() == 0);
    CHECK(*places.rbegin() == num_nodes - 1);
  }
  const CertifiedGraph huge(Shape(int64_t{1} << 40, 8));
  for (int64_t id = (int64_t{1} << 40) - 1000; id < int64_t{1} << 40; ++id) {
    REQUIRE(huge.IdOf(huge.GlobalOf(id)) == id);
  }
}

TEST_CASE("edges are known from their target alone", "[certified_graph]") {
  const CertifiedGraph graph(Shape(500, 1));
  const CertifiedGraph other(Shape(500, 1, 2));
  int64_t num_edges = 0;
  int64_t same = 0;
  for (int64_t target = 0; target < 500; ++target) {
    REQUIRE(graph.Degree(target) == other.Degree(target));
    std::set<int64_t> sources;
    for (int64_t i = 0; i < graph.Degree(target); ++i) {
      const int64_t source = graph.Source(target, i);
      sources.insert(source);
      REQUIRE(graph.CheckEdge(source, target, target * 8 + i));
      REQUIRE_FALSE(graph.CheckEdge((source + 1) % 500, target, target * 8 + i));
      same += other.CheckEdge(source, target);
      ++num_edges;
    }
    for (int64_t source = 0; source < 500; ++source) {
      REQUIRE(graph.CheckEdge(source, target) == (sources.count(source) == 1));
    }
    CHECK_FALSE(graph.CheckEdge(0, target, target * 8 + graph.Degree(target)));
    CHECK_FALSE(graph.CheckEdge(0, target, -1));
  }
  CHECK(num_edges > 500 * 3);
  CHECK(num_edges < 500 * 5);
  CHECK(same < num_edges / 10);  // another version has other edges
  CHECK_FALSE(graph.CheckEdge(-1, 3));
  CHECK_FALSE(graph.CheckEdge(3, 500));
}

TEST_CASE("what is written is what is certified", "[certified_graph]") {
  const auto [num_nodes, num_shards] =
      GENERATE(std::pair<int64_t, int32_t>(1, 1), std::pair<int64_t, int32_t>(1000, 1),
               std::pair<int64_t, int32_t>(1000, 3), std::pair<int64_t, int32_t>(7, 7));
  const TempDir folder;
  const CertifiedGraph graph(Shape(num_nodes, num_shards));
  VICINITY_REQUIRE_OK(graph.Write(folder.File("graph")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, Dataset::Open(folder.File("graph")));
  REQUIRE(dataset->book().num_shards() == num_shards);
  int64_t num_train = 0;
  for (int64_t id = 0; id < num_nodes; ++id) {
    const GlobalNode global{graph.GlobalOf(id)};
    const Shard* shard = dataset->shard(dataset->book().OwnerOf({0}, global));
    const int64_t row = dataset->book().RowOf({0}, global).value;
    const NodeTable& nodes = shard->nodes({0});
    REQUIRE(nodes.keys[row] == static_cast<uint64_t>(id));
    REQUIRE(graph.CheckRow(id, nodes.columns[0].row(row)) == RowFault::kNone);
    num_train += graph.InTraining(id);
    const EdgeTable& edges = shard->edges({0});
    REQUIRE(edges.degree(row) == graph.Degree(id));
    for (int64_t at = edges.begin(row); at < edges.begin(row) + edges.degree(row); ++at) {
      REQUIRE(graph.CheckEdge(graph.IdOf(edges.sources[at]), id, edges.edge_ids[at]));
    }
  }
  CHECK(num_train > 0);
  for (int32_t shard = 0; shard < num_shards; ++shard) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const auto ranking,
                                  Ranking::Open(*dataset, kDefaultRanking, {shard}, {0}));
    CHECK(ranking->size() == num_nodes);
  }
}

TEST_CASE("another version has the same files and another fingerprint", "[certified_graph]") {
  const TempDir folder;
  VICINITY_REQUIRE_OK(CertifiedGraph(Shape(100, 2, 1)).Write(folder.File("a")));
  VICINITY_REQUIRE_OK(CertifiedGraph(Shape(100, 2, 2)).Write(folder.File("b")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto a, Dataset::Open(folder.File("a")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto b, Dataset::Open(folder.File("b")));
  CHECK(a->fingerprint() != b->fingerprint());
  CHECK(a->book().ToProto().SerializeAsString() == b->book().ToProto().SerializeAsString());
}

}  // namespace
}  // namespace vicinity::testing
