#include "client/c_api/json_fields.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace vicinity::c_api {
namespace {

using nlohmann::json;

// Of a field "x" with this value, read into `value`.
template <typename Value>
Error ReadX(const std::string& text, Value* value) {
  const json object = ParseObject(("{\"x\": " + text + "}").c_str());
  JsonFields fields("here", object);
  fields.Read("x", value);
  return fields.Finish();
}

template <typename Value>
void CheckRefused(const std::string& text, Value value) {
  INFO(text);
  const Error error = ReadX(text, &value);
  CHECK(error.code() == ErrorCode::kInvalidArgument);
  CHECK_THAT(error.message(), Catch::StartsWith("here"));
}

TEST_CASE("fields are read by their types", "[json_fields]") {
  bool flag = false;
  CHECK(ReadX("true", &flag).ok());
  CHECK(flag);
  std::string text;
  CHECK(ReadX("\"a\"", &text).ok());
  CHECK(text == "a");
  uint64_t big = 0;
  CHECK(ReadX("18446744073709551615", &big).ok());
  CHECK(big == UINT64_MAX);
  int32_t small = 0;
  CHECK(ReadX("-2147483648", &small).ok());
  CHECK(small == INT32_MIN);
  std::chrono::milliseconds time{0};
  CHECK(ReadX("250", &time).ok());
  CHECK(time == std::chrono::milliseconds(250));
  std::vector<std::vector<int32_t>> lists;
  CHECK(ReadX("[[1, 2], []]", &lists).ok());
  CHECK(lists == std::vector<std::vector<int32_t>>{{1, 2}, {}});
}

TEST_CASE("a value of another type or out of range is refused", "[json_fields]") {
  CheckRefused("1", false);
  CheckRefused("null", false);
  CheckRefused("1", std::string());
  CheckRefused("1.5", int64_t{0});
  CheckRefused("2147483648", int32_t{0});
  CheckRefused("-2147483649", int32_t{0});
  CheckRefused("9223372036854775808", int64_t{0});
  CheckRefused("-1", uint64_t{0});
  CheckRefused("[1, true]", std::vector<int64_t>());
  CheckRefused("1", std::vector<int64_t>());
  CheckRefused("[1]", std::vector<std::vector<int64_t>>());
}

TEST_CASE("a choice is one of its words", "[json_fields]") {
  const json object = json::parse(R"({"a": "two", "b": "three", "c": 2})");
  const std::vector<std::string> words = {"one", "two"};
  size_t chosen = 0;
  JsonFields good("here", object);
  good.Read("a", words, &chosen);
  CHECK(chosen == 1);
  for (const char* name : {"b", "c"}) {
    JsonFields fields("here", object);
    fields.Read(name, words, &chosen);
    CHECK_THAT(fields.Finish().message(), Catch::Contains("\"one\" \"two\""));
  }
}

TEST_CASE("an absent field leaves its value; one that nobody reads is refused", "[json_fields]") {
  const json object = json::parse(R"({"num": 1})");
  int64_t value = 7;
  JsonFields fields("here", object);
  fields.Read("number", &value);
  CHECK(value == 7);
  const Error error = fields.Finish();
  CHECK(error.code() == ErrorCode::kInvalidArgument);
  CHECK_THAT(error.message(), Catch::Contains("\"num\"") && Catch::Contains("number"));
}

TEST_CASE("what is no object is refused", "[json_fields]") {
  for (const char* text : {"", "{", "[]", "3", "\"\xff\"", "{\"a\": \"\xff\"}"}) {
    INFO(text);
    const json object = ParseObject(text);
    JsonFields fields("here", object);
    bool value = false;
    fields.Read("a", &value);
    CHECK(fields.Finish().code() == ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace vicinity::c_api
