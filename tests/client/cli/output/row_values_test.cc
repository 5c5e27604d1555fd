#include "client/cli/output/row_values.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace vicinity::cli {
namespace {

template <typename T>
std::string Json(DType dtype, std::vector<int64_t> shape, const std::vector<T>& values) {
  ColumnSpec column;
  column.dtype = dtype;
  column.shape = std::move(shape);
  REQUIRE(column.row_bytes() == static_cast<int64_t>(values.size() * sizeof(T)));
  return RowAsJson(column, reinterpret_cast<const char*>(values.data())).dump();
}

TEST_CASE("every type of value reads as its number", "[cli]") {
  CHECK(Json<uint8_t>(DType::kBool, {}, {1}) == "true");
  CHECK(Json<int8_t>(DType::kInt8, {}, {-128}) == "-128");
  CHECK(Json<uint8_t>(DType::kUint8, {}, {255}) == "255");
  CHECK(Json<int16_t>(DType::kInt16, {}, {-300}) == "-300");
  CHECK(Json<int32_t>(DType::kInt32, {}, {-70000}) == "-70000");
  CHECK(Json<int64_t>(DType::kInt64, {}, {INT64_MIN}) == "-9223372036854775808");
  CHECK(Json<float>(DType::kFloat32, {}, {0.5F}) == "0.5");
  CHECK(Json<double>(DType::kFloat64, {}, {1e300}) == "1e+300");
}

TEST_CASE("half precision reads as the numbers of its standard", "[cli]") {
  CHECK(Json<uint16_t>(DType::kFloat16, {4}, {0x3c00, 0xc000, 0x7bff, 0x0001}) ==
        "[1.0,-2.0,65504.0,5.960464477539063e-08]");
  CHECK(Json<uint16_t>(DType::kFloat16, {3}, {0x7c00, 0xfc00, 0x7e00}) ==
        R"(["inf","-inf","nan"])");
  CHECK(Json<uint16_t>(DType::kBfloat16, {3}, {0x3f80, 0xc040, 0x7f80}) == R"([1.0,-3.0,"inf"])");
}

TEST_CASE("rows have their column's shape", "[cli]") {
  CHECK(Json<int32_t>(DType::kInt32, {2, 3}, {1, 2, 3, 4, 5, 6}) == "[[1,2,3],[4,5,6]]");
  CHECK(Json<int32_t>(DType::kInt32, {0}, {}) == "[]");
  CHECK(Json<float>(DType::kFloat32, {1}, {std::numeric_limits<float>::quiet_NaN()}) ==
        R"(["nan"])");
}

TEST_CASE("people see wide rows cut", "[cli]") {
  ColumnSpec column;
  column.dtype = DType::kFloat32;
  column.shape = {100};
  const std::vector<float> values(100, 0.1F);
  const std::string text = RowAsText(column, reinterpret_cast<const char*>(values.data()));
  CHECK_THAT(text, Catch::StartsWith("[0.1, 0.1, ") && Catch::EndsWith("... 100 values]"));
  column.shape = {};
  CHECK(RowAsText(column, reinterpret_cast<const char*>(values.data())) == "0.1");
}

}  // namespace
}  // namespace vicinity::cli
