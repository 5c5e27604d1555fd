#include "sampler/rules/row_finder.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "partition/dataset/dataset.h"
#include "partition/schema/condition.h"
#include "partition/schema/condition_text.h"
#include "proto/common/ids.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

constexpr EdgeTypeId kLinks{0};

TEST_CASE("rows of edges that meet a condition are those, beyond what is read at a time",
          "[row_finder]") {
  testing::RandomGraphOptions options;
  options.num_nodes = 20;
  options.num_edges = RowFinder::kRowsAtOnce + 1000;
  options.weights = true;
  const testing::MemoryGraph graph = testing::RandomGraph(options);
  const testing::TempDir dir;
  VICINITY_REQUIRE_OK(WriteGraph(graph, dir.File("graph")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(dir.File("graph")));
  const ShardReader reader(*dataset->shard({0}));
  const std::vector<ColumnSpec>& columns = graph.schema.edge_types[0].columns;
  VICINITY_ASSERT_OK_AND_ASSIGN(const Condition condition, ParseCondition("weight > 0.5"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const RowCondition where, ResolveCondition(condition, columns));
  RowFinder finder(reader, kLinks, where);
  constexpr int64_t kFirst = 7;
  const int64_t count = options.num_edges - kFirst;
  FoundRows found;
  VICINITY_REQUIRE_OK(finder.Find(kFirst, count, &found));
  CHECK(found.num_read == count);
  std::vector<uint64_t> expected;
  VICINITY_REQUIRE_OK(reader.ReadRange(
      reader.EdgeColumn(kLinks, where.terms[0].column), kFirst, count, [&](const char* rows) {
        for (int64_t i = 0; i < count; ++i) {
          float weight = 0;
          std::memcpy(&weight, rows + i * sizeof(weight), sizeof(weight));
          if (weight > 0.5f) expected.push_back(kFirst + i);
        }
      }));
  CHECK(!expected.empty());
  CHECK(found.rows == expected);
}

}  // namespace
}  // namespace vicinity
