#include "partition/dataset/shard_files.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "partition/dataset/dataset.h"
#include "partition/dataset/manifest.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::TempDir;

// docs/formats.md shows these names.
TEST_CASE("a shard's files have their documented names", "[partition]") {
  const Schema schema = testing::TypedGraph(1, 1, 1, 1).schema;
  const std::vector<std::string> paths = ShardPaths(schema, {12});
  CHECK(paths.size() == 40);
  CHECK(std::set<std::string>(paths.begin(), paths.end()).size() == paths.size());
  for (const char* path :
       {"nodes.user.keys", "nodes.user.directory.keys", "nodes.user.directory.nodes",
        "nodes.user.column.label", "nodes.item.names.offsets", "nodes.item.names.bytes",
        "nodes.item.ragged.words.offsets", "nodes.item.ragged.words.bytes",
        "edges.user.buys.item.offsets", "edges.user.buys.item.sources", "edges.user.buys.item.ids",
        "edges.user.buys.item.column.weight", "edges.user.buys.item.weights.weight"}) {
    CHECK(std::count(paths.begin(), paths.end(), std::string("shard-00012/") + path) == 1);
  }
  CHECK(ShardFolder({65535}) == "shard-65535");
}

// Types may be named like the parts of file names: '.' keeps them apart.
TEST_CASE("no two files share a name, whatever the types are called", "[partition]") {
  Schema schema;
  for (const char* name : {"keys", "directory", "names", "column", "ragged"}) {
    schema.node_types.push_back({name, IdKind::kString, 0, {}, "", 0, ""});
    for (const char* column : {"keys", "directory", "names", "nodes"}) {
      schema.node_types.back().columns.push_back({column, DType::kInt8, {}});
      schema.node_types.back().ragged.push_back({std::string(column) + "-ragged", DType::kInt8, 0});
    }
  }
  schema.edge_types = {{0, "ids", 1, {{"ids", DType::kInt8, {}}}}, {1, "keys", 0, {}}};
  const std::vector<std::string> paths = ShardPaths(schema, {0});
  CHECK(std::set<std::string>(paths.begin(), paths.end()).size() == paths.size());
}

TEST_CASE("exactly the listed files are on disk", "[partition]") {
  TempDir dir;
  const testing::MemoryGraph graph = testing::TypedGraph(20, 10, 5, 1);
  VICINITY_REQUIRE_OK(WriteGraph(graph, Shuffled(graph, 3, 1), dir.File("set")));
  std::set<std::string> expected = {"manifest.textproto"};
  for (int32_t s = 0; s < 3; ++s) {
    for (const std::string& path : ShardPaths(graph.schema, {s})) expected.insert(path);
  }
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir.File("set"))) {
    if (entry.is_regular_file()) {
      found.insert(std::filesystem::relative(entry.path(), dir.File("set")).string());
    }
  }
  CHECK(found == expected);
}

TEST_CASE("ids take 4 bytes as long as they fit", "[partition]") {
  CHECK(StoredNodeIdBytes(0) == 4);
  CHECK(StoredNodeIdBytes((int64_t{1} << 32) - 1) == 4);
  CHECK(StoredNodeIdBytes(int64_t{1} << 32) == 8);
}

TEST_CASE("data begins on a 64-byte boundary", "[partition]") {
  TempDir dir;
  const testing::MemoryGraph graph = testing::RandomGraph({});
  VICINITY_REQUIRE_OK(WriteGraph(graph, dir.File("set")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(dir.File("set")));
  for (const ColumnView& column : dataset->shards()[0]->nodes(NodeTypeId{0}).columns) {
    CHECK(reinterpret_cast<uintptr_t>(column.data) % 64 == 0);
  }
}

TEST_CASE("a shard without its entries in the manifest is damage", "[partition]") {
  TempDir dir;
  const testing::MemoryGraph graph = testing::RandomGraph({});
  const testing::Placement placement = InUserOrder(graph);
  VICINITY_REQUIRE_OK(WriteGraph(graph, dir.File("set")));
  const proto::ShardEntry none;
  ShardSource source;
  source.directory = dir.File("set");
  source.format_version = kFormatVersion;
  source.schema = &graph.schema;
  source.book = &placement.book;
  source.entry = &none;
  VICINITY_CHECK_CODE(MapShard(source), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace vicinity
