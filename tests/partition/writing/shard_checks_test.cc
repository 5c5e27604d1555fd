#include "partition/writing/shard_checks.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "partition/dataset/book.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard_files.h"
#include "tests/testing/graphs/damage.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::MemoryGraph;
using testing::OverwriteValue;
using testing::TempDir;

constexpr int64_t kData = 64;  // where a file's data begins

// A dataset of two shards whose files tests change; checksums are not looked at.
class WrittenSet {
 public:
  explicit WrittenSet(const MemoryGraph& graph) {
    testing::Placement placement = Shuffled(graph, 1, 4);
    std::vector<std::vector<int64_t>> halves;
    for (const testing::MemoryNodes& nodes : graph.nodes) {
      const int64_t size = static_cast<int64_t>(nodes.keys.size());
      halves.push_back({0, size / 2, size});
    }
    VICINITY_ASSERT_OK_AND_ASSIGN(placement.book, Book::Create(halves));
    VICINITY_REQUIRE_OK(WriteGraph(graph, placement, path()));
  }
  std::string path() const { return dir_.File("set"); }
  std::string File(const std::string& name) const { return path() + "/" + name; }

  std::unique_ptr<Dataset> Open() const {
    Dataset::Options options;
    options.check_bytes = 0;
    VICINITY_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Dataset> dataset, Dataset::Open(path(), options));
    return dataset;
  }
  void CheckFound(const std::string& file) const {
    const absl::Status status = CheckShards(*Open(), NoProgress());
    VICINITY_CHECK_CODE(status, absl::StatusCode::kDataLoss);
    CHECK_THAT(std::string(status.message()), Catch::Contains(file));
  }

 private:
  TempDir dir_;
};

MemoryGraph Typed() { return testing::TypedGraph(50, 30, 20, 3); }

TEST_CASE("what the writer wrote passes", "[partition]") {
  const WrittenSet set(Typed());
  VICINITY_CHECK_OK(CheckShards(*set.Open(), NoProgress()));
}

TEST_CASE("a part of a dataset cannot be checked", "[partition]") {
  const WrittenSet set(Typed());
  Dataset::Options options;
  options.shards = {{1}};
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(set.path(), options));
  VICINITY_CHECK_CODE(CheckShards(*dataset, NoProgress()), absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("a list out of order is found", "[partition]") {
  const WrittenSet set(Typed());
  const std::string sources = "shard-00000/edges.user.knows.user.sources";
  const std::string ids = "shard-00000/edges.user.knows.user.ids";
  {
    const std::unique_ptr<Dataset> dataset = set.Open();
    const EdgeTable& edges = dataset->shard({0})->edges(EdgeTypeId{3});
    int64_t row = 0;
    while (edges.degree(row) < 2 ||
           edges.sources[edges.begin(row)] == edges.sources[edges.begin(row) + 1]) {
      ++row;
    }
    const int64_t at = edges.begin(row);
    const int64_t first = edges.sources[at];
    const int64_t second = edges.sources[at + 1];
    OverwriteValue(set.File(sources), kData + 4 * at, static_cast<uint32_t>(second));
    OverwriteValue(set.File(sources), kData + 4 * (at + 1), static_cast<uint32_t>(first));
  }
  set.CheckFound(sources);
}

MemoryGraph Timed() {
  testing::RandomGraphOptions options;
  options.times = true;
  options.time_order = true;
  options.id_kind = IdKind::kInt64;
  return testing::RandomGraph(options);
}

// Where in shard 0 two edges of one list begin that `fit`, by the positions of both.
template <typename Fit>
int64_t FindTwo(const WrittenSet& set, const Fit& fit) {
  const std::unique_ptr<Dataset> dataset = set.Open();
  const EdgeTable& edges = dataset->shard({0})->edges(EdgeTypeId{0});
  for (int64_t row = 0; row < edges.num_targets(); ++row) {
    for (int64_t i = 0; i + 1 < edges.degree(row); ++i) {
      if (fit(edges, edges.begin(row) + i)) return edges.begin(row) + i;
    }
  }
  FAIL("there is no such list");
  return -1;
}

int64_t TimeAt(const EdgeTable& edges, int64_t at) {
  int64_t time = 0;
  std::memcpy(&time, edges.columns[0].row(at).data(), sizeof(time));
  return time;
}

TEST_CASE("a list out of the order of time is found", "[partition]") {
  const WrittenSet set(Timed());
  VICINITY_REQUIRE_OK(CheckShards(*set.Open(), NoProgress()));
  int64_t later = 0;
  const int64_t at = FindTwo(set, [&](const EdgeTable& edges, int64_t i) {
    later = TimeAt(edges, i + 1);
    return TimeAt(edges, i) < later && later < std::numeric_limits<int64_t>::max();
  });
  const std::string times = "shard-00000/edges.node.links.node.column.time";
  OverwriteValue(set.File(times), kData + 8 * at, later + 1);
  set.CheckFound(times + ": at " + std::to_string(at + 1));
}

TEST_CASE("edges at one time that are not in the order of their sources' keys are found",
          "[partition]") {
  const WrittenSet set(Timed());
  uint64_t first = 0;
  uint64_t second = 0;
  const int64_t at = FindTwo(set, [&](const EdgeTable& edges, int64_t i) {
    first = edges.sources[i];
    second = edges.sources[i + 1];
    return TimeAt(edges, i) == TimeAt(edges, i + 1) && first != second;
  });
  const std::string sources = "shard-00000/edges.node.links.node.sources";
  OverwriteValue(set.File(sources), kData + 4 * at, static_cast<uint32_t>(second));
  OverwriteValue(set.File(sources), kData + 4 * (at + 1), static_cast<uint32_t>(first));
  set.CheckFound(sources);
}

TEST_CASE("doubled edges are in order by their ids alone", "[partition]") {
  MemoryGraph graph = testing::RandomGraph({});
  graph.edges[0] = {{3, 3}, {5, 5}, {}};
  const WrittenSet set(graph);
  VICINITY_CHECK_OK(CheckShards(*set.Open(), NoProgress()));
  std::string ids;
  {
    const std::unique_ptr<Dataset> dataset = set.Open();
    const int32_t shard = dataset->shard({0})->edges(EdgeTypeId{0}).num_edges() == 2 ? 0 : 1;
    ids = EdgeIdsPath(graph.schema, {shard}, {0});
  }
  OverwriteValue(set.File(ids), kData, uint32_t{1});
  OverwriteValue(set.File(ids), kData + 4, uint32_t{0});
  set.CheckFound("edges.node.links.node.sources");
}

TEST_CASE("a source outside the book is found", "[partition]") {
  const WrittenSet set(Typed());
  const std::string sources = "shard-00001/edges.user.buys.item.sources";
  OverwriteValue(set.File(sources), kData + 4, uint32_t{50});
  set.CheckFound(sources);
}

TEST_CASE("offsets that fall are found", "[partition]") {
  const WrittenSet set(Typed());
  const std::string offsets = GENERATE(std::string("shard-00000/edges.user.knows.user.offsets"),
                                       std::string("shard-00000/nodes.item.names.offsets"));
  OverwriteValue(set.File(offsets), kData + 8, uint64_t{1} << 50);
  set.CheckFound(offsets);
}

TEST_CASE("a weight table that is not that of the weights is found", "[partition]") {
  const WrittenSet set(Typed());
  const std::string weights = "shard-00000/edges.user.buys.item.weights.weight";
  SECTION("the table") { OverwriteValue(set.File(weights), kData + 8 * 5, uint32_t{12345}); }
  SECTION("the column") {
    OverwriteValue(set.File("shard-00000/edges.user.buys.item.column.weight"), kData, 123456.0F);
  }
  set.CheckFound("weight");
}

TEST_CASE("a name that does not make its key is found", "[partition]") {
  const WrittenSet set(Typed());
  testing::FlipBit(set.File("shard-00000/nodes.item.names.bytes"), kData);
  set.CheckFound("shard-00000/nodes.item.keys: at 0");
}

TEST_CASE("a dense id that is too large is found", "[partition]") {
  const WrittenSet set(Typed());
  OverwriteValue(set.File("shard-00001/nodes.tag.keys"), kData, uint64_t{20});
  set.CheckFound("shard-00001/nodes.tag.keys");
}

TEST_CASE("a directory that misleads is found", "[partition]") {
  const WrittenSet set(Typed());
  const std::string keys = "shard-00000/nodes.user.directory.keys";
  const std::string nodes = "shard-00000/nodes.user.directory.nodes";
  const std::unique_ptr<Dataset> dataset = set.Open();
  const NodeTable& table = dataset->shard({0})->nodes(NodeTypeId{0});
  const uint64_t key = table.directory_keys[1];
  const uint64_t before = table.directory_keys[0];
  const uint32_t node = static_cast<uint32_t>(table.directory_nodes[0]);

  OverwriteValue(set.File(keys), kData + 8, before);  // twice the same
  set.CheckFound(keys);
  OverwriteValue(set.File(keys), kData + 8, key);
  VICINITY_REQUIRE_OK(CheckShards(*dataset, NoProgress()));

  uint64_t elsewhere = before + 1;  // a key of the other shard's directory
  while (dataset->book().DirectoryShard(elsewhere) == ShardId{0}) ++elsewhere;
  OverwriteValue(set.File(keys), kData, elsewhere);
  set.CheckFound(keys);
  OverwriteValue(set.File(keys), kData, before);

  OverwriteValue(set.File(nodes), kData, (node + 1) % 50);
  set.CheckFound(nodes);
  OverwriteValue(set.File(nodes), kData, uint32_t{50});
  set.CheckFound(nodes);
}

// Keys swapped between two nodes: each still has some node's key, but not the listed one's.
TEST_CASE("two nodes with each other's keys are found", "[partition]") {
  const WrittenSet set(Typed());
  const std::string keys = "shard-00000/nodes.user.keys";
  uint64_t first = 0;
  uint64_t second = 0;
  {
    const std::unique_ptr<Dataset> dataset = set.Open();
    first = dataset->shard({0})->nodes(NodeTypeId{0}).keys[0];
    second = dataset->shard({0})->nodes(NodeTypeId{0}).keys[1];
  }
  OverwriteValue(set.File(keys), kData, second);
  OverwriteValue(set.File(keys), kData + 8, first);
  const absl::Status status = CheckShards(*set.Open(), NoProgress());
  VICINITY_CHECK_CODE(status, absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace vicinity
