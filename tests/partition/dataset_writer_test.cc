#include "partition/dataset_writer.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "partition/audit.h"
#include "partition/dataset.h"
#include "partition/progress.h"
#include "proto/common/file.h"
#include "tests/testing/small_graphs.h"
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

}  // namespace
}  // namespace vicinity
