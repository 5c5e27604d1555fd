#include "partition/schema/condition.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "partition/schema/condition_text.h"
#include "partition/schema/schema.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

const std::vector<ColumnSpec> kColumns = {
    {"whole", DType::kInt64, {}},  {"single", DType::kFloat32, {}}, {"double", DType::kFloat64, {}},
    {"half", DType::kFloat16, {}}, {"wide", DType::kInt64, {2}},    {"flag", DType::kBool, {1}}};

RowCondition Resolved(const std::string& text) {
  VICINITY_ASSERT_OK_AND_ASSIGN(const Condition condition, ParseCondition(text));
  VICINITY_ASSERT_OK_AND_ASSIGN(RowCondition resolved, ResolveCondition(condition, kColumns));
  return resolved;
}

TEST_CASE("integers are compared exactly with numbers of any kind", "[condition]") {
  struct Case {
    std::string text;
    ConditionOp op;
    std::vector<int64_t> numbers;
  };
  const std::vector<Case> cases = {
      {"whole < 3", ConditionOp::kLess, {3}},
      {"whole < 2.5", ConditionOp::kLessEqual, {2}},
      {"whole <= 2.5", ConditionOp::kLessEqual, {2}},
      {"whole > 2.5", ConditionOp::kGreater, {2}},
      {"whole >= 2.5", ConditionOp::kGreater, {2}},
      {"whole >= 3.0", ConditionOp::kGreaterEqual, {3}},
      {"whole < -2.5", ConditionOp::kLessEqual, {-3}},
      {"whole > -2.5", ConditionOp::kGreater, {-3}},
      {"whole > 9007199254740993", ConditionOp::kGreater, {9007199254740993}},
      {"whole < 1e30", ConditionOp::kGreaterEqual, {kLeast}},
      {"whole > 1e30", ConditionOp::kIn, {}},
      {"whole > -1e30", ConditionOp::kGreaterEqual, {kLeast}},
      {"whole <= -1e30", ConditionOp::kIn, {}},
      {"whole in (3, 2.5, 1.0, 3, 1e30)", ConditionOp::kIn, {1, 3}},
      {"flag", ConditionOp::kIn, {0}},
  };
  for (const Case& each : cases) {
    CAPTURE(each.text);
    const RowCondition::Term term = Resolved(each.text).terms[0];
    CHECK(term.op == each.op);
    CHECK(term.whole == each.numbers);
    CHECK(term.real.empty());
  }
}

TEST_CASE("a number beside a column of floats is what the column can hold", "[condition]") {
  CHECK(Resolved("single = 0.1").terms[0].real == std::vector<double>{0.1F});
  CHECK(Resolved("double = 0.1").terms[0].real == std::vector<double>{0.1});
  CHECK(Resolved("half = 0.1").terms[0].real == std::vector<double>{0.0999755859375});
  CHECK(Resolved("single in (3, 1, 3)").terms[0].real == std::vector<double>{1, 3});
}

TEST_CASE("columns that there are not, and those of several values, are refused by name",
          "[condition]") {
  const auto problem = [](const std::string& text) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const Condition condition, ParseCondition(text));
    const absl::Status status = ResolveCondition(condition, kColumns).status();
    VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  CHECK(problem("other < 1") ==
        "there is no column other; there are: whole, single, double, half, wide, flag");
  CHECK(problem("wide < 1") == "column wide has 2 values a row, a condition needs one");
}

TEST_CASE("conditions from elsewhere are looked at before they are believed", "[condition]") {
  const RowCondition good = Resolved("whole in (1, 2) and not single < 0.5 or flag");
  RowCondition same = good;
  CHECK(CompleteCondition(kColumns, &same) == "");
  CHECK(same == good);
  const auto problem = [&](auto change) {
    RowCondition condition = good;
    change(&condition.terms);
    return CompleteCondition(kColumns, &condition);
  };
  using Terms = std::vector<RowCondition::Term>;
  const std::vector<std::pair<std::string, std::string>> told = {
      {problem([](Terms* terms) { terms->clear(); }), "gives 0 answers"},
      {problem([](Terms* terms) { terms->pop_back(); }), "gives 2 answers"},
      {problem([](Terms* terms) { terms->erase(terms->begin()); }), "joins what is not there"},
      {problem([](Terms* terms) { (*terms)[0].op = static_cast<ConditionOp>(0); }), "kind 0"},
      {problem([](Terms* terms) { (*terms)[0].op = static_cast<ConditionOp>(99); }), "kind 99"},
      {problem([](Terms* terms) { (*terms)[0].column = -1; }), "column -1"},
      {problem([](Terms* terms) { (*terms)[0].column = 6; }), "column 6, there are 6"},
      {problem([](Terms* terms) { (*terms)[0].column = 4; }), "wide, which has 2"},
      {problem([](Terms* terms) { (*terms)[0].column = 1; }), "another type"},
      {problem([](Terms* terms) { (*terms)[0].real = {1}; }), "another type"},
      {problem([](Terms* terms) {
         (*terms)[0].whole = {2, 1};
       }),
       "do not rise"},
      {problem([](Terms* terms) { (*terms)[0].op = ConditionOp::kLess; }), "with 2 numbers"},
      {problem([](Terms* terms) { (*terms)[1].real = {}; }), "with 0 numbers"},
      {problem([](Terms* terms) {
         (*terms)[0].whole.clear();
         for (int64_t i = 0; i < 1024; ++i) (*terms)[0].whole.push_back(i);
       }),
       "numbers, at most 1024"},
      {problem([](Terms* terms) { terms->resize(257, {ConditionOp::kNot}); }), "257 terms"},
  };
  for (const auto& [got, expected] : told) CHECK_THAT(got, Catch::Contains(expected));
  RowCondition nan = Resolved("single in (1)");
  nan.terms[0].real[0] = std::numeric_limits<double>::quiet_NaN();
  CHECK_THAT(CompleteCondition(kColumns, &nan), Catch::Contains("do not rise"));
}

}  // namespace
}  // namespace vicinity
