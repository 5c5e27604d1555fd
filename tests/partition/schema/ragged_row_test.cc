#include "partition/schema/ragged_row.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "partition/schema/schema.h"

namespace vicinity {
namespace {

// A row of a sparse matrix of float64 with these indices, all of whose values are 0.
std::string SparseRow(const std::vector<int32_t>& indices) {
  std::string row(reinterpret_cast<const char*>(indices.data()), indices.size() * sizeof(int32_t));
  return row + std::string(indices.size() * sizeof(double), '\0');
}

TEST_CASE("rows of lists are whole values", "[ragged_row]") {
  const RaggedSpec spec{"clicks", DType::kInt64, 0};
  CHECK(spec.item_bytes() == 8);
  CHECK(RaggedRowFault(spec, "").empty());
  CHECK(RaggedRowFault(spec, std::string(24, 'x')).empty());
  CHECK(RaggedRowFault(spec, "1234567") == "has 7 bytes, no multiple of 8");
}

TEST_CASE("rows of sparse matrices have indices that rise below the number of columns",
          "[ragged_row]") {
  const RaggedSpec spec{"words", DType::kFloat64, 10};
  CHECK(spec.item_bytes() == 12);
  CHECK(RaggedRowFault(spec, "").empty());
  CHECK(RaggedRowFault(spec, SparseRow({0, 3, 9})).empty());
  CHECK(RaggedRowFault(spec, SparseRow({0}) + "x") == "has 13 bytes, no multiple of 12");
  CHECK(RaggedRowFault(spec, SparseRow({3, 3})) == "has index 3 behind 3");
  CHECK(RaggedRowFault(spec, SparseRow({4, 3})) == "has index 3 behind 4");
  CHECK(RaggedRowFault(spec, SparseRow({-1})) == "has index -1 behind -1");
  CHECK(RaggedRowFault(spec, SparseRow({INT32_MIN})) == "has index -2147483648 behind -1");
  CHECK(RaggedRowFault(spec, SparseRow({2, 10})) == "has index 10 of 10 columns");
}

}  // namespace
}  // namespace vicinity
