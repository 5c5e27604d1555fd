#include "partition/dataset/column_index.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "partition/schema/condition.h"
#include "partition/schema/schema.h"
#include "proto/common/random.h"
#include "proto/narrow_floats.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

constexpr int64_t kRows = 200;

// Values as they are stored, and as they compare.
struct Values {
  DType dtype{};
  std::string bytes;
  std::vector<double> numbers;

  template <typename T>
  void Add(T stored, double number) {
    bytes.append(reinterpret_cast<const char*>(&stored), sizeof(stored));
    numbers.push_back(number);
  }
};

// Few different ones, so that many are equal; both zeros and NaN among those that may be.
Values SomeValues(DType dtype) {
  NodeDraws random(/*stream=*/5, /*key=*/1, /*tree=*/0);
  Values values;
  values.dtype = dtype;
  for (int64_t i = 0; i < kRows; ++i) {
    const auto whole = static_cast<int64_t>(random.Below(9));
    double real = static_cast<double>(whole) / 2 - 1;
    if (whole == 7) real = std::numeric_limits<double>::quiet_NaN();
    if (whole == 8) real = -0.0;
    const auto single = static_cast<float>(real);
    switch (dtype) {
      case DType::kBool:
        values.Add(static_cast<uint8_t>(whole % 2), static_cast<double>(whole % 2));
        break;
      case DType::kUint8:
        values.Add(static_cast<uint8_t>(whole), static_cast<double>(whole));
        break;
      case DType::kInt8:
        values.Add(static_cast<int8_t>(whole - 4), static_cast<double>(whole - 4));
        break;
      case DType::kInt16:
        values.Add(static_cast<int16_t>(whole - 4), static_cast<double>(whole - 4));
        break;
      case DType::kInt32:
        values.Add(static_cast<int32_t>(whole - 4), static_cast<double>(whole - 4));
        break;
      case DType::kInt64:
        values.Add(whole - 4, static_cast<double>(whole - 4));
        break;
      case DType::kFloat16:
        values.Add(ToFloat16(single), real);
        break;
      case DType::kBfloat16:
        values.Add(ToBfloat16(single), real);
        break;
      case DType::kFloat32:
        values.Add(single, real);
        break;
      case DType::kFloat64:
        values.Add(real, real);
        break;
    }
  }
  return values;
}

bool Holds(ConditionOp op, const std::vector<double>& numbers, double x) {
  switch (op) {
    case ConditionOp::kLess:
      return x < numbers[0];
    case ConditionOp::kLessEqual:
      return x <= numbers[0];
    case ConditionOp::kGreater:
      return x > numbers[0];
    case ConditionOp::kGreaterEqual:
      return x >= numbers[0];
    default:
      return std::find(numbers.begin(), numbers.end(), x) != numbers.end();
  }
}

RowCondition::Term Comparison(DType dtype, ConditionOp op, const std::vector<double>& numbers) {
  RowCondition::Term term;
  term.op = op;
  term.column = 0;
  term.dtype = dtype;
  for (const double number : numbers) {
    if (IsWhole(dtype)) {
      term.whole.push_back(static_cast<int64_t>(number));
    } else {
      term.real.push_back(number);
    }
  }
  return term;
}

std::vector<uint32_t> Find(const ColumnIndex& index, int64_t run, const RowCondition::Term& term,
                           bool negated) {
  std::vector<IndexStretch> stretches;
  VICINITY_REQUIRE_OK(index.FindStretches(run, term, negated, &stretches));
  std::vector<uint32_t> rows;
  for (const IndexStretch& stretch : stretches) {
    CHECK(stretch.size() > 0);
    VICINITY_REQUIRE_OK(index.AppendRows(run, stretch, &rows));
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

TEST_CASE("an index tells what brute force does, of values of every type", "[column_index]") {
  const DType dtype =
      GENERATE(DType::kBool, DType::kUint8, DType::kInt8, DType::kInt16, DType::kInt32,
               DType::kInt64, DType::kFloat16, DType::kBfloat16, DType::kFloat32, DType::kFloat64);
  const Values values = SomeValues(dtype);
  std::string run(kRows * IndexRowBytes(dtype), '?');
  MakeIndexRun(dtype, values.bytes.data(), kRows, &run[0]);
  const ColumnIndex index(dtype, kRows, run, nullptr);
  for (const ConditionOp op : {ConditionOp::kLess, ConditionOp::kLessEqual, ConditionOp::kGreater,
                               ConditionOp::kGreaterEqual, ConditionOp::kIn}) {
    for (const double number : {-100.0, -4.0, -1.0, -0.0, 0.0, 1.0, 2.0, 100.0}) {
      std::vector<double> numbers = {number};
      if (op == ConditionOp::kIn) numbers = {number, number + 1, 300.0};
      for (const bool negated : {false, true}) {
        CAPTURE(static_cast<int>(dtype), static_cast<int>(op), number, negated);
        std::vector<uint32_t> expected;
        for (int64_t i = 0; i < kRows; ++i) {
          if (Holds(op, numbers, values.numbers[i]) != negated) {
            expected.push_back(static_cast<uint32_t>(i));
          }
        }
        CHECK(Find(index, 0, Comparison(dtype, op, numbers), negated) == expected);
      }
    }
  }
  const RowCondition::Term none = Comparison(dtype, ConditionOp::kIn, {});
  CHECK(Find(index, 0, none, false).empty());
  CHECK(Find(index, 0, none, true).size() == kRows);
}

TEST_CASE("nothing compares with NaN, and everything does not", "[column_index]") {
  const Values values = SomeValues(DType::kFloat32);
  std::string run(kRows * IndexRowBytes(DType::kFloat32), '?');
  MakeIndexRun(DType::kFloat32, values.bytes.data(), kRows, &run[0]);
  const ColumnIndex index(DType::kFloat32, kRows, run, nullptr);
  const ConditionOp op = GENERATE(ConditionOp::kLess, ConditionOp::kLessEqual,
                                  ConditionOp::kGreater, ConditionOp::kGreaterEqual);
  const RowCondition::Term term =
      Comparison(DType::kFloat32, op, {std::numeric_limits<double>::quiet_NaN()});
  CHECK(Find(index, 0, term, false).empty());
  CHECK(Find(index, 0, term, true).size() == kRows);
}

TEST_CASE("integers beyond what doubles hold are told apart", "[column_index]") {
  const std::vector<int64_t> values = {INT64_MAX, INT64_MAX - 1, INT64_MIN, INT64_MIN + 1};
  std::string run(values.size() * IndexRowBytes(DType::kInt64), '?');
  MakeIndexRun(DType::kInt64, reinterpret_cast<const char*>(values.data()), 4, &run[0]);
  const ColumnIndex index(DType::kInt64, 4, run, nullptr);
  RowCondition::Term term = Comparison(DType::kInt64, ConditionOp::kGreater, {0});
  term.whole = {INT64_MAX - 1};
  CHECK(Find(index, 0, term, false) == std::vector<uint32_t>{0});
  term.op = ConditionOp::kLessEqual;
  term.whole = {INT64_MIN};
  CHECK(Find(index, 0, term, false) == std::vector<uint32_t>{2});
}

TEST_CASE("there is one way to write a run: rows of equal values rise", "[column_index]") {
  const std::vector<float> values = {0.0f,  -0.0f,
                                     0.0f,  std::numeric_limits<float>::quiet_NaN(),
                                     -1.0f, -std::numeric_limits<float>::quiet_NaN()};
  std::string run(values.size() * IndexRowBytes(DType::kFloat32), '?');
  MakeIndexRun(DType::kFloat32, reinterpret_cast<const char*>(values.data()), 6, &run[0]);
  const ColumnIndex index(DType::kFloat32, 6, run, nullptr);
  std::vector<uint32_t> rows;
  VICINITY_REQUIRE_OK(index.AppendRows(0, {0, 6}, &rows));
  CHECK(rows == std::vector<uint32_t>{4, 0, 1, 2, 3, 5});
}

TEST_CASE("the rows of each run are its own", "[column_index]") {
  constexpr int64_t kMore = kIndexRunRows + 1000;
  std::vector<uint8_t> values(kMore, 7);
  values[5] = values[kIndexRunRows - 1] = values[kIndexRunRows + 9] = 3;
  std::string runs(kMore * IndexRowBytes(DType::kUint8), '?');
  const char* const bytes = reinterpret_cast<const char*>(values.data());
  MakeIndexRun(DType::kUint8, bytes, kIndexRunRows, &runs[0]);
  MakeIndexRun(DType::kUint8, bytes + kIndexRunRows, kMore - kIndexRunRows,
               &runs[kIndexRunRows * IndexRowBytes(DType::kUint8)]);
  const ColumnIndex index(DType::kUint8, kMore, runs, nullptr);
  CHECK(index.RunRows(0) == kIndexRunRows);
  CHECK(index.RunRows(1) == 1000);
  const RowCondition::Term term = Comparison(DType::kUint8, ConditionOp::kLess, {7});
  CHECK(Find(index, 0, term, false) == std::vector<uint32_t>{5, kIndexRunRows - 1});
  CHECK(Find(index, 1, term, false) == std::vector<uint32_t>{9});
}

TEST_CASE("a row that is not in its run is damage", "[column_index]") {
  const std::vector<uint8_t> values = {1, 2, 3};
  std::string run(values.size() * IndexRowBytes(DType::kUint8), '?');
  MakeIndexRun(DType::kUint8, reinterpret_cast<const char*>(values.data()), 3, &run[0]);
  run[3] = 99;  // of the first row
  const ColumnIndex index(DType::kUint8, 3, run, nullptr);
  std::vector<uint32_t> rows;
  const absl::Status status = index.AppendRows(0, {0, 3}, &rows);
  VICINITY_CHECK_CODE(status, absl::StatusCode::kDataLoss);
  CHECK_THAT(std::string(status.message()), Catch::Contains("row 99 of 3"));
}

}  // namespace
}  // namespace vicinity
