#include "partition/writing/weights_builder.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset/alias_table.h"
#include "partition/dataset/book.h"
#include "partition/dataset/file_header.h"
#include "partition/dataset/shard_files.h"
#include "partition/schema/schema.h"
#include "partition/writing/output_files.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::TempDir;

// Two nodes in one shard; three edges lead to the first and one to the second, ids 10 .. 13.
class OneShard {
 public:
  OneShard(const std::vector<float>& weights, int64_t id_bytes, const std::string& weight_column)
      : book_(*Book::Create({{0, 2}})), files_(dir_.path()) {
    schema_.node_types = {{"node", IdKind::kDense, 0, {}, "", 0, ""}};
    schema_.edge_types = {{0, "links", 0, {{"w", DType::kFloat32, {}}}, weight_column}};
    std::filesystem::create_directory(dir_.File(ShardFolder({0})));
    VICINITY_ASSERT_OK_AND_ASSIGN(
        const OutputArray offsets,
        files_.Add(OffsetsPath(schema_, {0}, {0}), FileKind::kOffsets, 3, 8));
    offsets.as<uint64_t>()[1] = 3;
    offsets.as<uint64_t>()[2] = 4;
    VICINITY_ASSERT_OK_AND_ASSIGN(
        const OutputArray ids,
        files_.Add(EdgeIdsPath(schema_, {0}, {0}), FileKind::kEdgeIds, 4, id_bytes));
    VICINITY_ASSERT_OK_AND_ASSIGN(
        const OutputArray column,
        files_.Add(EdgeColumnPath(schema_, {0}, {0}, 0), FileKind::kColumn, 4, 4));
    for (int64_t i = 0; i < 4; ++i) {
      StoreId(ids, i, static_cast<uint64_t>(10 + i));
      column.as<float>()[i] = weights[i];
    }
  }

  absl::Status Build() { return BuildWeights(schema_, book_, "/set", &files_); }
  bool has_tables() const { return files_.Has(WeightsPath(schema_, {0}, {0})); }
  std::vector<uint64_t> Units(int64_t begin, int64_t num_edges) const {
    std::vector<uint64_t> units;
    const OutputArray tables = files_.at(WeightsPath(schema_, {0}, {0}));
    AliasUnits(tables.as<AliasEntry>().subspan(begin, num_edges), &units);
    return units;
  }

 private:
  const TempDir dir_;
  Schema schema_;
  const Book book_;
  OutputFiles files_;
};

TEST_CASE("a weight column has a table for each list of it", "[partition]") {
  const int64_t id_bytes = GENERATE(4, 8);
  OneShard shard({1, 0, 2, 5}, id_bytes, "w");
  VICINITY_REQUIRE_OK(shard.Build());
  CHECK(shard.Units(0, 3) == std::vector<uint64_t>{uint64_t{1} << 32, 0, uint64_t{2} << 32});
  CHECK(shard.Units(3, 1) == std::vector<uint64_t>{uint64_t{1} << 32});
}

TEST_CASE("an edge type without a weight column has no tables", "[partition]") {
  OneShard shard({1, -1, 2, 5}, 4, "");
  VICINITY_REQUIRE_OK(shard.Build());
  CHECK_FALSE(shard.has_tables());
}

TEST_CASE("a weight that is none is refused with its file and edge", "[partition]") {
  const int64_t id_bytes = GENERATE(4, 8);
  const float bad = GENERATE(-1.0F, std::numeric_limits<float>::infinity());
  OneShard shard({1, 0, bad, 5}, id_bytes, "w");
  const absl::Status status = shard.Build();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(status.message()),
             Catch::StartsWith("/set/shard-00000/") && Catch::Contains("edge 12"));
}

}  // namespace
}  // namespace vicinity
