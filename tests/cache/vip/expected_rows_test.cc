#include "cache/vip/expected_rows.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "cache/vip/vip.h"
#include "proto/common/ids.h"

namespace vicinity {
namespace {

TEST_CASE("a cache of the likeliest rows leaves the sum of the others", "[expected_rows]") {
  const MissCurve curve({0.25f, 0.0f, 1.0f, 0.5f, 0.125f});
  CHECK(curve.num_nodes() == 4);
  const std::vector<double> expected = {1.875, 0.875, 0.375, 0.125, 0, 0};
  for (size_t rows = 0; rows < expected.size(); ++rows) {
    CHECK(curve.RowsPerBatch(static_cast<int64_t>(rows)) == expected[rows]);
  }
  CHECK(curve.RowsPerBatch(-5) == 1.875);
  CHECK(curve.RowsPerBatch(INT64_MAX) == 0);
}

TEST_CASE("the smallest cache for a number of rows", "[expected_rows]") {
  const MissCurve curve({0.25f, 1.0f, 0.5f, 0.125f});
  for (const double rows : {3.0, 1.875, 1.0, 0.875, 0.5, 0.1, 0.0, -1.0}) {
    CAPTURE(rows);
    const int64_t cache = curve.CacheFor(rows);
    CHECK(curve.RowsPerBatch(cache) <= std::max(rows, 0.0));
    if (cache > 0) CHECK(curve.RowsPerBatch(cache - 1) > rows);
  }
  CHECK(MissCurve({}).CacheFor(0) == 0);
  CHECK(MissCurve({}).RowsPerBatch(0) == 0);
}

TEST_CASE("remote rows are those of the types asked for that are not at home", "[expected_rows]") {
  VipScores scores;
  scores.num_homes = 2;
  scores.values = {{0.5f, 0.25f, 0.0f, 1.0f, 0.5f, 0.75f}, {0.125f, 0.0f}};
  const IsLocal first_of_type_0 = [](NodeTypeId type, GlobalNode node) {
    return type.value == 0 && node.value == 0;
  };
  const NodeTypeId type_0[] = {NodeTypeId{0}};
  CHECK(RemoteRows(scores, 0, {}, first_of_type_0).RowsPerBatch(0) == 0.625);
  CHECK(RemoteRows(scores, 0, type_0, first_of_type_0).RowsPerBatch(0) == 0.5);
  CHECK(RemoteRows(scores, 1, {}, first_of_type_0).RowsPerBatch(0) == 1.75);
  CHECK(RemoteRows(scores, 1, {}, first_of_type_0).RowsPerBatch(1) == 0.75);
}

}  // namespace
}  // namespace vicinity
