#include "partition/writing/dataset_writer.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>

#include "partition/dataset/alias_table.h"
#include "partition/dataset/book.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/schema/schema.h"
#include "partition/writing/audit.h"
#include "partition/writing/weight_table.h"
#include "proto/common/file.h"
#include "proto/common/progress.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::MemoryGraph;
using testing::Placement;
using testing::TempDir;

// Writes, verifies, opens and compares.
std::string WrittenAndRead(const MemoryGraph& graph, const Placement& placement) {
  TempDir dir;
  VICINITY_REQUIRE_OK(WriteGraph(graph, placement, dir.File("set")));
  VICINITY_CHECK_OK(VerifyDataset(dir.File("set"), NoProgress()));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(dir.File("set")));
  CHECK(dataset->whole());
  CHECK(dataset->unchecked().empty());
  return Difference(graph, *dataset);
}

TEST_CASE("a written dataset reads back as it was, for any cut and order", "[partition]") {
  const int32_t num_shards = GENERATE(1, 2, 5);
  const IdKind id_kind = GENERATE(IdKind::kDense, IdKind::kInt64, IdKind::kString);
  testing::RandomGraphOptions options;
  options.id_kind = id_kind;
  options.weights = true;
  const MemoryGraph graph = RandomGraph(options);
  CHECK(WrittenAndRead(graph, InUserOrder(graph)).empty());
  CHECK(WrittenAndRead(graph, Shuffled(graph, num_shards, 7)).empty());
}

TEST_CASE("a typed graph reads back as it was", "[partition]") {
  const MemoryGraph graph = testing::TypedGraph(60, 40, 9, 3);
  CHECK(WrittenAndRead(graph, InUserOrder(graph)).empty());
  CHECK(WrittenAndRead(graph, Shuffled(graph, 4, 5)).empty());
}

TEST_CASE("types without nodes, edges or columns are ordinary", "[partition]") {
  CHECK(
      WrittenAndRead(testing::TypedGraph(0, 0, 0, 1), InUserOrder(testing::TypedGraph(0, 0, 0, 1)))
          .empty());
  const MemoryGraph some = testing::TypedGraph(5, 0, 3, 1);
  CHECK(WrittenAndRead(some, Shuffled(some, 8, 2)).empty());
  testing::RandomGraphOptions options;
  options.feature_width = options.num_edges = options.num_classes = 0;
  options.splits = false;
  const MemoryGraph bare = RandomGraph(options);
  CHECK(WrittenAndRead(bare, Shuffled(bare, 3, 2)).empty());
}

// A dense type "node" with two nodes and one edge type, ready to be written by hand.
class ByHand {
 public:
  ByHand() {
    schema_.node_types = {{"node", IdKind::kDense, 0, {{"x", DType::kInt16, {2}}}, "", 0, ""}};
    schema_.edge_types = {{0, "links", 0, {{"w", DType::kInt8, {}}}}};
  }
  std::string path() const { return dir_.File("set"); }
  const TempDir& dir() const { return dir_; }
  const Schema& schema() const { return schema_; }

  absl::StatusOr<std::unique_ptr<DatasetWriter>> Create() const {
    return DatasetWriter::Create(path(), "by hand", schema_, *Book::Create({{0, 2}}));
  }
  // Asks for all arrays: the edge 0 -> 1, keys as given.
  void Fill(DatasetWriter* writer, uint64_t first_key, uint64_t second_key) const {
    VICINITY_ASSERT_OK_AND_ASSIGN(const OutputArray keys, writer->Keys({0}, {0}));
    keys.as<uint64_t>()[0] = first_key;
    keys.as<uint64_t>()[1] = second_key;
    VICINITY_REQUIRE_OK(writer->Column({0}, {0}, 0));
    VICINITY_ASSERT_OK_AND_ASSIGN(const OutputArray offsets, writer->Offsets({0}, {0}));
    offsets.as<uint64_t>()[2] = 1;
    VICINITY_REQUIRE_OK(writer->Sources({0}, {0}, 1));
    VICINITY_REQUIRE_OK(writer->EdgeIds({0}, {0}, 1));
    VICINITY_REQUIRE_OK(writer->EdgeColumn({0}, {0}, 0, 1));
  }

 private:
  TempDir dir_;
  Schema schema_;
};

TEST_CASE("a writer that does not finish leaves nothing behind", "[partition]") {
  const ByHand hand;
  {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DatasetWriter> writer, hand.Create());
    hand.Fill(writer.get(), 0, 1);
    CHECK_FALSE(std::filesystem::is_empty(hand.dir().path()));
  }
  CHECK(std::filesystem::is_empty(hand.dir().path()));
}

TEST_CASE("a finished writer leaves the dataset and nothing else", "[partition]") {
  const ByHand hand;
  {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DatasetWriter> writer, hand.Create());
    hand.Fill(writer.get(), 0, 1);
    VICINITY_REQUIRE_OK(writer->Finish(nullptr, "by hand"));
  }
  VICINITY_CHECK_OK(VerifyDataset(hand.path(), NoProgress()));
  const std::filesystem::directory_iterator entries(hand.dir().path());
  CHECK(std::distance(begin(entries), end(entries)) == 1);
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset, Dataset::Open(hand.path()));
  CHECK(dataset->manifest().name() == "by hand");
  CHECK(dataset->manifest().provenance() == "by hand");
  CHECK(dataset->manifest().audit().edge_types(0).count() == 1);
}

TEST_CASE("the same content makes the same files and fingerprint", "[partition]") {
  TempDir dir;
  const MemoryGraph graph = testing::TypedGraph(30, 20, 10, 3);
  VICINITY_REQUIRE_OK(WriteGraph(graph, Shuffled(graph, 3, 1), dir.File("a")));
  VICINITY_REQUIRE_OK(WriteGraph(graph, Shuffled(graph, 3, 1), dir.File("b")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::string a, ReadFile(dir.File("a/manifest.textproto")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::string b, ReadFile(dir.File("b/manifest.textproto")));
  CHECK(a == b);
}

TEST_CASE("a directory that is there is never written over", "[partition]") {
  const ByHand hand;
  std::filesystem::create_directory(hand.path());
  VICINITY_CHECK_CODE(hand.Create(), absl::StatusCode::kAlreadyExists);
  std::filesystem::remove(hand.path());
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DatasetWriter> writer, hand.Create());
  hand.Fill(writer.get(), 0, 1);
  std::filesystem::create_directory(hand.path());  // meanwhile
  VICINITY_CHECK_CODE(writer->Finish(nullptr, ""), absl::StatusCode::kAlreadyExists);
  CHECK(std::filesystem::is_empty(hand.path()));
}

TEST_CASE("of two writers of one directory the second is refused and harms nothing",
          "[partition]") {
  const ByHand hand;
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DatasetWriter> first, hand.Create());
  hand.Fill(first.get(), 0, 1);
  VICINITY_CHECK_CODE(hand.Create(), absl::StatusCode::kAlreadyExists);
  VICINITY_CHECK_OK(first->Finish(nullptr, ""));
  VICINITY_CHECK_OK(VerifyDataset(hand.path(), NoProgress()));
}

TEST_CASE("what a killed writer left is cleared by the next", "[partition]") {
  const ByHand hand;
  std::filesystem::create_directories(hand.path() + ".partial/shard-00000/deep");
  VICINITY_REQUIRE_OK(
      WriteFileAtomically(hand.path() + ".partial/shard-00000/nodes.node.keys", "old"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DatasetWriter> writer, hand.Create());
  hand.Fill(writer.get(), 0, 1);
  VICINITY_REQUIRE_OK(writer->Finish(nullptr, ""));
  VICINITY_CHECK_OK(VerifyDataset(hand.path(), NoProgress()));
  CHECK_FALSE(std::filesystem::exists(hand.path() + "/shard-00000/deep"));
}

TEST_CASE("a slash behind the directory's name changes nothing", "[partition]") {
  TempDir dir;
  VICINITY_CHECK_OK(WriteGraph(testing::RandomGraph({}), dir.File("set/")));
  VICINITY_CHECK_OK(VerifyDataset(dir.File("set"), NoProgress()));
  VICINITY_CHECK_CODE(WriteGraph(testing::RandomGraph({}), ""), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(WriteGraph(testing::RandomGraph({}), dir.File("no/such/folder")),
                      absl::StatusCode::kNotFound);
}

TEST_CASE("every array must be asked for, and only once", "[partition]") {
  const ByHand hand;
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DatasetWriter> writer, hand.Create());
  const absl::Status missing = writer->Finish(nullptr, "");
  VICINITY_CHECK_CODE(missing, absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(missing.message()), Catch::Contains("nodes.node.keys"));
  hand.Fill(writer.get(), 0, 1);
  VICINITY_CHECK_CODE(writer->Keys({0}, {0}), absl::StatusCode::kAlreadyExists);
  VICINITY_CHECK_OK(writer->Finish(nullptr, ""));
}

TEST_CASE("arrays that the schema does not have are refused", "[partition]") {
  const ByHand hand;
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DatasetWriter> writer, hand.Create());
  const auto refused = [](const absl::StatusOr<OutputArray>& array) {
    VICINITY_CHECK_CODE(array, absl::StatusCode::kInvalidArgument);
  };
  refused(writer->Keys({1}, {0}));
  refused(writer->Keys({-1}, {0}));
  refused(writer->Keys({0}, {1}));
  refused(writer->Column({0}, {0}, 1));
  refused(writer->Column({0}, {0}, -1));
  refused(writer->Offsets({0}, {1}));
  refused(writer->EdgeColumn({0}, {0}, 1, 1));
  refused(writer->Sources({0}, {0}, -1));
  refused(writer->RaggedOffsets({0}, {0}, kNamesColumn));
  refused(writer->RaggedBytes({0}, {0}, kNamesColumn, 5));
}

TEST_CASE("the arrays of one edge type have one length", "[partition]") {
  const ByHand hand;
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DatasetWriter> writer, hand.Create());
  VICINITY_REQUIRE_OK(writer->Sources({0}, {0}, 3));
  VICINITY_CHECK_CODE(writer->EdgeIds({0}, {0}, 4), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(writer->EdgeColumn({0}, {0}, 0, 2), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_OK(writer->EdgeIds({0}, {0}, 3));
}

TEST_CASE("two nodes with one key are refused, and the key is named", "[partition]") {
  const ByHand hand;
  {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DatasetWriter> writer, hand.Create());
    hand.Fill(writer.get(), 1, 1);
    const absl::Status status = writer->Finish(nullptr, "");
    VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
    CHECK_THAT(std::string(status.message()), Catch::Contains("key 1"));
  }
  CHECK(std::filesystem::is_empty(hand.dir().path()));
}

TEST_CASE("a weight that is none is refused with file and edge, and nothing is left",
          "[partition]") {
  const TempDir dir;
  testing::RandomGraphOptions options;
  options.weights = true;
  MemoryGraph graph = testing::RandomGraph(options);
  const float bad = GENERATE(-1.0F, std::numeric_limits<float>::infinity(),
                             std::numeric_limits<float>::quiet_NaN());
  std::memcpy(&graph.edges[0].columns[0][4 * 17], &bad, sizeof(bad));
  const absl::Status status = WriteGraph(graph, Shuffled(graph, 3, 1), dir.File("set"));
  VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(status.message()),
             Catch::Contains("edges.node.links.node.column.weight") && Catch::Contains("edge 17"));
  CHECK_FALSE(std::filesystem::exists(dir.File("set")));
}

TEST_CASE("each list has the table of its weights, whatever the cut", "[partition]") {
  const TempDir dir;
  testing::RandomGraphOptions options;
  options.weights = true;
  const MemoryGraph graph = testing::RandomGraph(options);
  const int32_t num_shards = GENERATE(1, 5);
  const testing::Placement placement = Shuffled(graph, num_shards, 1);
  VICINITY_REQUIRE_OK(WriteGraph(graph, placement, dir.File("set")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto dataset, Dataset::Open(dir.File("set")));
  for (const std::unique_ptr<Shard>& shard : dataset->shards()) {
    const EdgeTable& edges = shard->edges({0});
    REQUIRE(edges.weights.size() == static_cast<size_t>(edges.num_edges()));
    WeightTable weights(
        WeightedLists{edges.offsets, edges.edge_ids, edges.columns[0], DType::kFloat32});
    for (int64_t row = 0; row < edges.num_targets(); ++row) {
      VICINITY_ASSERT_OK_AND_ASSIGN(const auto table, weights.Make(row));
      for (size_t i = 0; i < table.size(); ++i) {
        const AliasEntry& stored = edges.weights[edges.begin(row) + static_cast<int64_t>(i)];
        REQUIRE(stored.share == table[i].share);
        REQUIRE(stored.other == table[i].other);
      }
    }
  }
}

TEST_CASE("content that changed against the expected audit is never published", "[partition]") {
  const ByHand hand;
  VICINITY_ASSERT_OK_AND_ASSIGN(std::unique_ptr<DatasetWriter> writer, hand.Create());
  hand.Fill(writer.get(), 0, 1);
  VICINITY_REQUIRE_OK(writer->Finish(nullptr, ""));
  proto::Audit audit;
  {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                  Dataset::Open(hand.path()));
    audit = dataset->manifest().audit();
  }
  std::filesystem::remove_all(hand.path());
  const bool changed = GENERATE(false, true);
  if (changed) audit.mutable_edge_types(0)->set_columns(0, 5);
  VICINITY_ASSERT_OK_AND_ASSIGN(writer, hand.Create());
  hand.Fill(writer.get(), 0, 1);
  const absl::Status status = writer->Finish(&audit, "");
  CHECK(status.code() == (changed ? absl::StatusCode::kDataLoss : absl::StatusCode::kOk));
  writer.reset();
  CHECK(std::filesystem::exists(hand.path()) != changed);
}

TEST_CASE("edge ids take 4 bytes once their bound says so", "[partition]") {
  const ByHand hand;
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DatasetWriter> writer, hand.Create());
  CHECK(writer->NodeIdBytes({0}) == 4);
  CHECK(writer->EdgeIdBytes({0}) == 8);
  writer->SetEdgeIdBound({0}, uint64_t{1} << 32);
  CHECK(writer->EdgeIdBytes({0}) == 4);
  writer->SetEdgeIdBound({0}, (uint64_t{1} << 32) + 1);
  CHECK(writer->EdgeIdBytes({0}) == 8);
  writer->SetEdgeIdBound({0}, 0);
  CHECK(writer->EdgeIdBytes({0}) == 4);
}

TEST_CASE("wide edge ids read back", "[partition]") {
  const ByHand hand;
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DatasetWriter> writer, hand.Create());
  hand.Fill(writer.get(), 0, 1);
  VICINITY_REQUIRE_OK(writer->Finish(nullptr, ""));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset, Dataset::Open(hand.path()));
  const EdgeTable& edges = dataset->shards()[0]->edges(EdgeTypeId{0});
  CHECK(edges.edge_ids.wide() != nullptr);
  CHECK(edges.edge_ids[0] == 0);
  CHECK(edges.degree(0) == 0);
  CHECK(edges.degree(1) == 1);
}

TEST_CASE("a schema or book that could not be read back is not written", "[partition]") {
  TempDir dir;
  const ByHand hand;
  VICINITY_CHECK_CODE(DatasetWriter::Create(dir.File("a"), "", Schema(), *Book::Create({{0, 2}})),
                      absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(
      DatasetWriter::Create(dir.File("a"), "", hand.schema(), *Book::Create({{0, 2}, {0, 1}})),
      absl::StatusCode::kInvalidArgument);
  Schema badly_named = hand.schema();
  badly_named.node_types[0].name = "../../x";
  VICINITY_CHECK_CODE(
      DatasetWriter::Create(dir.File("a"), "", badly_named, *Book::Create({{0, 2}})),
      absl::StatusCode::kInvalidArgument);
  CHECK(std::filesystem::is_empty(dir.path()));
}

}  // namespace
}  // namespace vicinity
