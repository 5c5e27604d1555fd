#include "client/cli/writes/array_row.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "client/cli/writes/text_row.h"
#include "tests/testing/status_checks.h"

namespace vicinity::cli {
namespace {

constexpr absl::StatusCode kWrong = absl::StatusCode::kInvalidArgument;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

template <typename T>
ArrayField Field(const char* name, ValueType type, const std::vector<T>& values,
                 std::vector<int64_t> row_shape = {}) {
  ArrayField field;
  field.name = name;
  field.type = type;
  for (const int64_t extent : row_shape) field.num_values *= extent;
  field.row_shape = std::move(row_shape);
  field.data = reinterpret_cast<const char*>(values.data());
  field.stride = field.num_values * static_cast<int64_t>(sizeof(T));
  return field;
}

template <typename T>
std::vector<T> ValuesOf(const std::string& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST_CASE("values of a row are cast to the column's type, or named", "[cli]") {
  const std::vector<double> weights = {0.1, 2, 3e300, 1.5};
  const std::vector<ArrayField> fields = {Field("w", ValueType::kFloat64, weights, {2})};
  ArrayRow row(&fields);
  std::string out;
  VICINITY_CHECK_OK(row.AddColumnRow(0, {"w", DType::kFloat32, {2}}, false, &out));
  CHECK(ValuesOf<float>(out) == std::vector<float>{0.1F, 2});
  const absl::Status fraction = row.AddColumnRow(0, {"w", DType::kInt32, {2}}, false, &out);
  VICINITY_CHECK_CODE(fraction, kWrong);
  CHECK_THAT(std::string(fraction.message()), Catch::Contains("0.1 does not fit int32"));
  row.set_row(1);
  VICINITY_CHECK_CODE(row.AddColumnRow(0, {"w", DType::kFloat32, {2}}, false, &out), kWrong);
  CHECK(out.size() == 8);  // nothing was left of what does not fit
  CHECK(row.num_bytes() == 16);
}

TEST_CASE("ids are whole numbers of int64", "[cli]") {
  const std::vector<uint64_t> ids = {7, uint64_t{1} << 63};
  const std::vector<double> reals = {8, 8.5};
  const std::vector<ArrayField> fields = {Field("id", ValueType::kUint64, ids),
                                          Field("real", ValueType::kFloat64, reals)};
  ArrayRow row(&fields);
  CHECK(*row.Integer(0) == 7);
  CHECK(*row.Integer(1) == 8);
  VICINITY_CHECK_CODE(row.Text(0).status(), kWrong);
  row.set_row(1);
  VICINITY_CHECK_CODE(row.Integer(0).status(), kWrong);
  VICINITY_CHECK_CODE(row.Integer(1).status(), kWrong);
}

TEST_CASE("NaN is no label among labels, and none elsewhere", "[cli]") {
  const std::vector<double> labels = {kNaN};
  const std::vector<ArrayField> fields = {Field("label", ValueType::kFloat64, labels)};
  const ArrayRow row(&fields);
  std::string out;
  VICINITY_CHECK_OK(row.AddColumnRow(0, {"label", DType::kInt32, {}}, true, &out));
  CHECK(ValuesOf<int32_t>(out) == std::vector<int32_t>{-1});
  VICINITY_CHECK_CODE(row.AddColumnRow(0, {"label", DType::kInt32, {}}, false, &out), kWrong);
}

TEST_CASE("a list has the values of a row", "[cli]") {
  const std::vector<int32_t> clicks = {1, 2, 3, 4, 5, 6};
  const std::vector<ArrayField> fields = {Field("clicks", ValueType::kInt32, clicks, {3})};
  ArrayRow row(&fields);
  row.set_row(1);
  std::string out;
  VICINITY_CHECK_OK(row.AddRaggedRow(0, {"clicks", DType::kInt64}, &out));
  CHECK(ValuesOf<int64_t>(out) == std::vector<int64_t>{4, 5, 6});
}

// Dead letters are JSON, and read as text when they are written again.
TEST_CASE("a row as JSON is the same row, to the bit", "[cli]") {
  const std::vector<float> floats = {0.1F, -1e-40F, std::numeric_limits<float>::max(),
                                     static_cast<float>(kNaN), static_cast<float>(-kInf)};
  const std::vector<double> doubles = {0.1, 5e-324, 1e308};
  const std::vector<int64_t> integers = {std::numeric_limits<int64_t>::min()};
  const std::vector<uint8_t> truths = {1};
  const std::vector<uint64_t> huge = {std::numeric_limits<uint64_t>::max()};
  const std::vector<ArrayField> fields = {
      Field("f", ValueType::kFloat32, floats, {5}), Field("d", ValueType::kFloat64, doubles, {3}),
      Field("i", ValueType::kInt64, integers), Field("b", ValueType::kBool, truths),
      Field("u", ValueType::kUint64, huge)};
  const ArrayRow row(&fields);
  const auto json = nlohmann::ordered_json::parse(row.ToJson().dump());
  CHECK(json["i"] == integers[0]);
  CHECK(json["u"] == huge[0]);
  CHECK(json["b"] == true);
  std::vector<std::string> texts;
  for (const char* name : {"f", "d"}) {
    std::string text;
    for (const auto& each : json[name]) {
      text += (each.is_string() ? each.get<std::string>() : each.dump()) + ' ';
    }
    texts.push_back(text);
  }
  const std::vector<std::string> names = {"f", "d"};
  TextRow again(&names);
  again.set_fields({texts[0], texts[1]});
  std::string before;
  std::string after;
  const ColumnSpec f{"f", DType::kFloat32, {5}};
  const ColumnSpec d{"d", DType::kFloat64, {3}};
  VICINITY_CHECK_OK(row.AddColumnRow(0, f, false, &before));
  VICINITY_CHECK_OK(row.AddColumnRow(1, d, false, &before));
  VICINITY_CHECK_OK(again.AddColumnRow(0, f, false, &after));
  VICINITY_CHECK_OK(again.AddColumnRow(1, d, false, &after));
  CHECK(before == after);
}

}  // namespace
}  // namespace vicinity::cli
