#include "sampler/rules/condition_filter.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "partition/schema/condition.h"
#include "partition/schema/condition_text.h"
#include "partition/schema/schema.h"
#include "proto/common/random.h"
#include "proto/narrow_floats.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

constexpr int64_t kRows = 300;

template <typename T>
std::string Packed(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

// A column of each type, by the name of its type. In `numbers` each value as a long double, which
// holds all of them exactly.
struct Columns {
  std::vector<ColumnSpec> specs;
  std::vector<std::string> bytes;
  std::vector<std::vector<long double>> numbers;

  template <typename T>
  void Add(DType dtype, const std::vector<T>& values) {
    specs.push_back({std::string(DTypeName(dtype)), dtype, {}});
    bytes.push_back(Packed(values));
    numbers.emplace_back(values.begin(), values.end());
  }
  void AddHalves(DType dtype, const std::vector<uint16_t>& bits, float (*widen)(uint16_t)) {
    Add(dtype, bits);
    for (size_t i = 0; i < bits.size(); ++i) numbers.back()[i] = widen(bits[i]);
  }
};

Columns EveryType() {
  NodeDraws random(/*stream=*/5, /*key=*/1, /*tree=*/0);
  const auto some = [&](auto extreme) {
    using T = decltype(extreme);
    std::vector<T> values;
    for (int64_t i = 0; i < kRows; ++i) values.push_back(static_cast<T>(random.Below(7)));
    values[3] = std::numeric_limits<T>::max();
    values[4] = std::numeric_limits<T>::lowest();
    return values;
  };
  const auto real = [&](auto extreme) {
    auto values = some(extreme);
    for (int64_t i = 5; i < kRows; ++i) values[i] = static_cast<decltype(extreme)>(values[i] / 10);
    values[0] = std::numeric_limits<decltype(extreme)>::quiet_NaN();
    values[1] = std::numeric_limits<decltype(extreme)>::infinity();
    values[2] = -values[1];
    return values;
  };
  Columns columns;
  std::vector<uint8_t> flags(kRows);
  for (uint8_t& flag : flags) flag = static_cast<uint8_t>(random.Below(2));
  columns.Add(DType::kBool, flags);
  columns.Add(DType::kInt8, some(int8_t{}));
  columns.Add(DType::kUint8, some(uint8_t{}));
  columns.Add(DType::kInt16, some(int16_t{}));
  columns.Add(DType::kInt32, some(int32_t{}));
  columns.Add(DType::kInt64, some(int64_t{}));
  columns.Add(DType::kFloat32, real(float{}));
  columns.Add(DType::kFloat64, real(double{}));
  std::vector<uint16_t> halves;
  std::vector<uint16_t> brains;
  for (const float value : real(float{})) {
    halves.push_back(ToFloat16(value));
    brains.push_back(ToBfloat16(value));
  }
  columns.AddHalves(DType::kFloat16, halves, FromFloat16);
  columns.AddHalves(DType::kBfloat16, brains, FromBfloat16);
  return columns;
}

// What the terms say of a row, by a stack of truths.
bool Holds(const RowCondition& condition, const Columns& columns, int64_t row) {
  std::vector<bool> stack;
  for (const RowCondition::Term& term : condition.terms) {
    if (term.op == ConditionOp::kNot) {
      stack.back() = !stack.back();
      continue;
    }
    if (!IsComparison(term.op)) {
      const bool right = stack.back();
      stack.pop_back();
      stack.back() = term.op == ConditionOp::kAnd ? stack.back() && right : stack.back() || right;
      continue;
    }
    const long double x = columns.numbers[term.column][row];
    std::vector<long double> numbers(term.whole.begin(), term.whole.end());
    numbers.insert(numbers.end(), term.real.begin(), term.real.end());
    const auto any = [&](const auto& is) {
      return std::any_of(numbers.begin(), numbers.end(), is);
    };
    stack.push_back(any([&](long double n) {
      if (term.op == ConditionOp::kLess) return x < n;
      if (term.op == ConditionOp::kLessEqual) return x <= n;
      if (term.op == ConditionOp::kGreater) return x > n;
      if (term.op == ConditionOp::kGreaterEqual) return x >= n;
      return x == n;
    }));
  }
  return stack.back();
}

// How many rows the condition holds for, which are checked one by one.
int64_t CountHolding(const std::string& text, const Columns& columns) {
  CAPTURE(text);
  VICINITY_ASSERT_OK_AND_ASSIGN(const Condition condition, ParseCondition(text));
  VICINITY_ASSERT_OK_AND_ASSIGN(const RowCondition resolved,
                                ResolveCondition(condition, columns.specs));
  ConditionFilter filter(resolved);
  std::vector<const char*> values;
  for (const int32_t column : filter.columns()) values.push_back(columns.bytes[column].data());
  int64_t count = 0;
  for (const int64_t num_rows : {kRows, int64_t{1}, int64_t{0}, kRows}) {
    const absl::Span<const uint8_t> holds = filter.Evaluate(values, num_rows);
    REQUIRE(holds.size() == static_cast<size_t>(num_rows));
    count = 0;
    for (int64_t i = 0; i < num_rows; ++i) {
      CAPTURE(i);
      REQUIRE(holds[i] == (Holds(resolved, columns, i) ? 1 : 0));
      count += holds[i];
    }
  }
  return count;
}

TEST_CASE("comparisons hold for the rows of every type that they say", "[condition_filter]") {
  const Columns columns = EveryType();
  for (const ColumnSpec& column : columns.specs) {
    for (const std::string number : {"0", "3", "0.3", "-1", "2.5", "1e300", "-1e300"}) {
      for (const std::string sign : {"<", "<=", "=", "!=", ">=", ">"}) {
        CountHolding(column.name + sign + number, columns);
      }
    }
    CHECK(CountHolding(column.name + " in (0, 0.3, 5, 1)", columns) > 0);
    CHECK(CountHolding(column.name + " not in (0,1,2,3,4,5,6,7,8,9,0.1,0.2,0.3,0.4)", columns) <
          (column.dtype == DType::kBool ? 1 : kRows / 2));
    CHECK(CountHolding(column.name, columns) < kRows);
  }
  CHECK(CountHolding("float32 = 0.3", columns) > 20);  // which no float32 is
  CHECK(CountHolding("int64 > 9223372036854775806", columns) == 1);
}

TEST_CASE("conditions of any build hold where their terms say", "[condition_filter]") {
  const Columns columns = EveryType();
  NodeDraws random(/*stream=*/9, /*key=*/2, /*tree=*/0);
  const auto comparison = [&] {
    static const std::vector<std::string> kSigns = {" < ", " <= ", " = ", " != ", " >= ", " > "};
    const ColumnSpec& column = columns.specs[random.Below(columns.specs.size())];
    return column.name + kSigns[random.Below(kSigns.size())] + std::to_string(random.Below(7));
  };
  int64_t some = 0;
  for (int trial = 0; trial < 500; ++trial) {
    std::string text = comparison();
    for (uint64_t more = random.Below(8); more > 0; --more) {
      const uint64_t way = random.Below(4);
      if (way == 0) text = "not (" + text + ")";
      if (way == 1) text = "(" + text + ") and " + comparison();
      if (way == 2) text = comparison() + " or (" + text + ")";
      if (way == 3) text = comparison() + " and (" + text + " or " + comparison() + ")";
    }
    const int64_t count = CountHolding(text, columns);
    some += count > 0 && count < kRows ? 1 : 0;
  }
  CHECK(some > 200);
}

TEST_CASE("rows of a list of any length are judged as those of short ones", "[condition_filter]") {
  const std::vector<ColumnSpec> columns = {{"a", DType::kInt64, {}}, {"b", DType::kInt16, {}}};
  VICINITY_ASSERT_OK_AND_ASSIGN(const Condition condition,
                                ParseCondition("a < 4000 and b in (1, 5) or (a >= 9000 or b = 2)"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const RowCondition resolved, ResolveCondition(condition, columns));
  std::vector<int64_t> a(10'000);
  std::vector<int16_t> b(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<int64_t>(i);
    b[i] = static_cast<int16_t>(i % 7);
  }
  const std::vector<const char*> values = {reinterpret_cast<const char*>(a.data()),
                                           reinterpret_cast<const char*>(b.data())};
  ConditionFilter filter(resolved);
  for (const int64_t count : {int64_t{4095}, int64_t{4096}, int64_t{4097}, int64_t{10'000}}) {
    const absl::Span<const uint8_t> holds = filter.Evaluate(values, count);
    REQUIRE(static_cast<int64_t>(holds.size()) == count);
    for (int64_t i = 0; i < count; ++i) {
      const bool expected = (i < 4000 && (b[i] == 1 || b[i] == 5)) || i >= 9000 || b[i] == 2;
      REQUIRE(holds[i] == (expected ? 1 : 0));
    }
  }
}

}  // namespace
}  // namespace vicinity
