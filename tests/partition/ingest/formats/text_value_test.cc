#include "partition/ingest/formats/text_value.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using Kind = TextValue::Kind;

// Seconds since 1970; -1 if the field is no time of whole seconds.
int64_t TimeOf(const std::string& field) {
  const TextValue value = ParseTextValue(field);
  return value.kind == Kind::kTime ? value.integer : -1;
}

TEST_CASE("a field is a number, a truth value, a time, missing, or none of these", "[text_value]") {
  const std::vector<std::pair<Kind, std::vector<std::string>>> fields = {
      {Kind::kMissing, {"", "  ", "NA", "N/A", "null", "NULL", "None", "NaT"}},
      {Kind::kInteger, {"0", "-7", " +7 ", "007", "9223372036854775807", "20200101"}},
      {Kind::kHugeInteger, {"9223372036854775808", "-9223372036854775809", "18446744073709551615"}},
      {Kind::kReal, {"1.0", "1e3", ".5", "-2.", "nan", "NaN", "-inf", "1e30"}},
      {Kind::kTruth, {"true", "True", "TRUE", "false", "False", "FALSE"}},
      {Kind::kTime, {"2020-01-31", "2020-01-31T10:00", "2020-01-31 10:00:00Z"}},
      {Kind::kFractionalTime, {"2020-01-31T10:00:00.5Z", "2020-01-31 10:00:00.000001"}},
      {Kind::kOther,
       {"x",
        "yes",
        "tRUE",
        "T",
        "na",
        "1,5",
        "0x10",
        "1 2",
        "2020-13-01",
        "2020-02-30",
        "2020-1-1",
        "20-01-01",
        "2020-01-01T",
        "2020-01-01T25:00",
        "2020-01-01T10",
        "2020-01-01x10:00",
        "2020-01-01T10:00:00 UTC",
        "2020-01-01T10:00:00+",
        "2020-01-01T10:00:",
        "2020-01-01T10:00x",
        "2020-01-01 ",
        "12020-01-01",
        "infinite-past",
        "1e999"}}};
  for (const auto& [kind, texts] : fields) {
    for (const std::string& text : texts) {
      INFO("'" << text << "'");
      // Blanks around are dropped before anything else.
      const bool date = text == "2020-01-01 ";
      CHECK(ParseTextValue(text).kind == (date ? Kind::kTime : kind));
    }
  }
  CHECK(ParseTextValue("True").integer == 1);
  CHECK(ParseTextValue("False").integer == 0);
  CHECK(ParseTextValue("2.5").real == 2.5);
  CHECK(ParseTextValue("-3").real == -3);
}

TEST_CASE("times are seconds since 1970 in UTC, with a zone, an offset or without",
          "[text_value]") {
  CHECK(TimeOf("1970-01-01") == 0);
  CHECK(TimeOf("2020-01-01") == 1577836800);
  CHECK(TimeOf("2020-01-01T00:00:01Z") == 1577836801);
  CHECK(TimeOf("2020-01-01 00:00:01") == 1577836801);
  CHECK(TimeOf("2020-01-01T00:00:01.000Z") == 1577836801);
  CHECK(TimeOf("2020-01-01T01:00:01+01:00") == 1577836801);
  CHECK(TimeOf("2019-12-31T18:30-05:30") == 1577836800);
  CHECK(TimeOf("2020-02-29T23:59:59Z") == 1583020799);
  CHECK(TimeOf("0001-01-01") == -62135596800);
  CHECK(TimeOf("9999-12-31T23:59:59Z") == 253402300799);
  CHECK(ParseTextValue("1969-12-31T23:59:59.5Z").kind == Kind::kFractionalTime);
  CHECK(ParseTextValue("1969-12-31T23:59:59Z").integer == -1);
}

absl::StatusOr<ValueType> TypeOf(const std::vector<std::string>& fields) {
  TextTypeFinder finder;
  int line = 0;
  for (const std::string& field : fields) {
    ++line;
    finder.Add(ParseTextValue(field), [&] { return absl::StrCat("line ", line, ": ", field); });
  }
  return finder.Type("x.csv");
}

TEST_CASE("a column has the type that keeps each of its values", "[text_value]") {
  CHECK(TypeOf({}).value() == ValueType::kFloat32);
  CHECK(TypeOf({"", "NA"}).value() == ValueType::kFloat32);
  CHECK(TypeOf({"1", "-9223372036854775808", "9223372036854775807"}).value() == ValueType::kInt64);
  CHECK(TypeOf({"true", "False"}).value() == ValueType::kBool);
  CHECK(TypeOf({"2020-01-01", "2020-01-01T00:00:01Z"}).value() == ValueType::kInt64);
  CHECK(TypeOf({"1", "", "0.5"}).value() == ValueType::kFloat32);
  CHECK(TypeOf({"1", "nan"}).value() == ValueType::kFloat32);
  CHECK(TypeOf({"1e30", "0.1", "inf"}).value() == ValueType::kFloat32);
  CHECK(TypeOf({"16777216", "0.5"}).value() == ValueType::kFloat32);
  CHECK(TypeOf({"16777217", "0.5"}).value() == ValueType::kFloat64);
  CHECK(TypeOf({"1577836801.0", ""}).value() == ValueType::kFloat64);
  CHECK(TypeOf({"9007199254740992", "0.5"}).value() == ValueType::kFloat32);  // 2^53
  CHECK(TypeOf({"9007199254740991", "0.5"}).value() == ValueType::kFloat64);
}

TEST_CASE("what no type keeps is refused with places and a way out", "[text_value]") {
  const auto refusal = [](const std::vector<std::string>& fields) {
    const auto type = TypeOf(fields);
    VICINITY_CHECK_CODE(type, absl::StatusCode::kInvalidArgument);
    return std::string(type.status().message());
  };
  CHECK_THAT(refusal({"1", "x", "y"}),
             Catch::StartsWith("x.csv") && Catch::Contains("2 problems") &&
                 Catch::Contains("line 2: x") && Catch::Contains("line 3: y"));
  CHECK_THAT(refusal({"1", "", "3"}), Catch::Contains("integers") && Catch::Contains("line 2") &&
                                          Catch::Contains("FLOAT64"));
  CHECK_THAT(refusal({"true", "NA"}), Catch::Contains("truth values") && Catch::Contains("line 2"));
  CHECK_THAT(refusal({"2020-01-01", "NaT"}), Catch::Contains("times") && Catch::Contains("line 2"));
  CHECK_THAT(refusal({"2020-01-01T00:00:00.5"}), Catch::Contains("whole seconds"));
  CHECK_THAT(refusal({"0.5", "9007199254740993"}), Catch::Contains("line 2: 9007199254740993"));
  CHECK_THAT(refusal({"1", "18446744073709551615"}),
             Catch::Contains("line 2: 1844674407370955161"));
  CHECK_THAT(refusal({"1", "2", "True"}), Catch::Contains("numbers (line 1: 1)") &&
                                              Catch::Contains("truth values (line 3: True)"));
  CHECK_THAT(refusal({"2020", "2020-01-01"}),
             Catch::Contains("line 1: 2020") && Catch::Contains("times (line 2"));
}

}  // namespace
}  // namespace vicinity
