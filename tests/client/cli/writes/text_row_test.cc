#include "client/cli/writes/text_row.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tests/testing/status_checks.h"

namespace vicinity::cli {
namespace {

constexpr absl::StatusCode kWrong = absl::StatusCode::kInvalidArgument;

template <typename T>
std::vector<T> ValuesOf(const std::string& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// Of the one field "c".
absl::Status ParseColumn(const ColumnSpec& spec, bool is_label, const std::string& text,
                         std::string* out) {
  const std::vector<std::string> names = {"c"};
  TextRow row(&names);
  row.set_fields({text});
  return row.AddColumnRow(0, spec, is_label, out);
}

absl::Status ParseRagged(const RaggedSpec& spec, const std::string& text, std::string* out) {
  const std::vector<std::string> names = {"c"};
  TextRow row(&names);
  row.set_fields({text});
  return row.AddRaggedRow(0, spec, out);
}

template <typename T>
std::vector<T> Parse(DType dtype, int64_t width, const std::string& text) {
  std::string out;
  VICINITY_REQUIRE_OK(ParseColumn({"c", dtype, {width}}, false, text, &out));
  return ValuesOf<T>(out);
}

absl::Status Refusal(DType dtype, int64_t width, const std::string& text) {
  std::string out;
  return ParseColumn({"c", dtype, {width}}, false, text, &out);
}

TEST_CASE("text is the values that import makes of it", "[cli]") {
  CHECK(Parse<int16_t>(DType::kInt16, 1, " -7 ") == std::vector<int16_t>{-7});
  CHECK(Parse<uint8_t>(DType::kBool, 1, "True") == std::vector<uint8_t>{1});
  CHECK(Parse<float>(DType::kFloat32, 3, "1 2.5\t-3e2") == std::vector<float>{1, 2.5, -300});
  CHECK(Parse<double>(DType::kFloat64, 1, "0.1") == std::vector<double>{0.1});
  CHECK(Parse<int64_t>(DType::kInt64, 1, "1970-01-02 00:00") == std::vector<int64_t>{86400});
  CHECK(Parse<int64_t>(DType::kInt64, 1, "9007199254740993") ==
        std::vector<int64_t>{9007199254740993});
  CHECK(std::isnan(Parse<float>(DType::kFloat32, 1, "")[0]));
}

TEST_CASE("a missing label is none", "[cli]") {
  std::string out;
  VICINITY_REQUIRE_OK(ParseColumn({"label", DType::kInt32, {}}, true, "", &out));
  VICINITY_REQUIRE_OK(ParseColumn({"label", DType::kInt32, {}}, true, "nan", &out));
  CHECK(ValuesOf<int32_t>(out) == std::vector<int32_t>{-1, -1});
}

TEST_CASE("what does not fit a column is refused", "[cli]") {
  VICINITY_CHECK_CODE(Refusal(DType::kInt8, 1, "128"), kWrong);
  VICINITY_CHECK_CODE(Refusal(DType::kInt32, 1, "1.5"), kWrong);
  VICINITY_CHECK_CODE(Refusal(DType::kInt32, 1, ""), kWrong);
  VICINITY_CHECK_CODE(Refusal(DType::kFloat32, 1, "red"), kWrong);
  VICINITY_CHECK_CODE(Refusal(DType::kFloat32, 3, "1 2"), kWrong);
  VICINITY_CHECK_CODE(Refusal(DType::kFloat32, 3, "1 2 3 4"), kWrong);
  VICINITY_CHECK_CODE(Refusal(DType::kInt64, 1, "2020-01-01 00:00:00.5"), kWrong);
}

TEST_CASE("rows of sparse columns have their indices sorted", "[cli]") {
  const RaggedSpec spec{"words", DType::kFloat32, 10};
  std::string out;
  VICINITY_REQUIRE_OK(ParseRagged(spec, "7:0.5 2:1", &out));
  CHECK(ValuesOf<int32_t>(out.substr(0, 8)) == std::vector<int32_t>{2, 7});
  CHECK(ValuesOf<float>(out.substr(8)) == std::vector<float>{1, 0.5});
  for (const char* text : {"10:1", "-1:1", "3", "3:x", "3:1 3:2"}) {
    CAPTURE(text);
    VICINITY_CHECK_CODE(ParseRagged(spec, text, &out), kWrong);
  }
}

TEST_CASE("texts are their bytes, lists their values", "[cli]") {
  std::string out;
  VICINITY_REQUIRE_OK(ParseRagged({"title", DType::kUint8}, "a b, c", &out));
  CHECK(out == "a b, c");
  out.clear();
  VICINITY_REQUIRE_OK(ParseRagged({"clicks", DType::kInt64}, "", &out));
  CHECK(out.empty());
  VICINITY_REQUIRE_OK(ParseRagged({"clicks", DType::kInt64}, "5 -6", &out));
  CHECK(ValuesOf<int64_t>(out) == std::vector<int64_t>{5, -6});
}

TEST_CASE("a row is an object of its texts, and a field an integer or none", "[cli]") {
  const std::vector<std::string> names = {"id", "title"};
  TextRow row(&names);
  row.set_fields({" -12", "a \"b\""});
  CHECK(row.ToJson().dump() == R"({"id":" -12","title":"a \"b\""})");
  CHECK(row.num_bytes() == 9);
  CHECK(*row.Integer(0) == -12);
  VICINITY_CHECK_CODE(row.Integer(1).status(), kWrong);
  CHECK(*row.Text(1) == "a \"b\"");
}

}  // namespace
}  // namespace vicinity::cli
