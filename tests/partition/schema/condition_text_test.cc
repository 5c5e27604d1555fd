#include "partition/schema/condition_text.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "partition/schema/condition.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

std::string Text(const ConditionNumber& number) {
  return number.is_whole ? absl::StrCat(number.whole) : absl::StrCat("~", number.real);
}

// Terms in their order: "a < 1; b in 2 3; and".
std::string Terms(const Condition& condition) {
  static constexpr const char* kWords[] = {"?", "<", "<=", ">", ">=", "in", "not", "and", "or"};
  return absl::StrJoin(condition.terms, "; ", [](std::string* out, const Condition::Term& term) {
    if (IsComparison(term.op)) absl::StrAppend(out, term.column, " ");
    absl::StrAppend(out, kWords[static_cast<int>(term.op)]);
    for (const ConditionNumber& number : term.numbers) absl::StrAppend(out, " ", Text(number));
  });
}

TEST_CASE("conditions are read as they are written", "[condition_text]") {
  const std::vector<std::pair<std::string, std::string>> texts = {
      {"year >= 2010", "year >= 2010"},
      {" year>=2010 ", "year >= 2010"},
      {"a = 1", "a in 1"},
      {"a == -1", "a in -1"},
      {"a != 1", "a in 1; not"},
      {"a", "a in 0; not"},
      {"not a", "a in 0; not; not"},
      {"a in (1)", "a in 1"},
      {"a in (1, 2.5, -3e2, true, FALSE)", "a in 1 ~2.5 ~-300 1 0"},
      {"a not in (1,2)", "a in 1 2; not"},
      {"a < 1 and b > 2 or c <= 3", "a < 1; b > 2; and; c <= 3; or"},
      {"a < 1 or b > 2 and c <= 3", "a < 1; b > 2; c <= 3; and; or"},
      {"(a < 1 or b > 2) and c", "a < 1; b > 2; or; c in 0; not; and"},
      {"not a < 1 and b", "a < 1; not; b in 0; not; and"},
      {"not (a AND b)", "a in 0; not; b in 0; not; and; not"},
      {"a or b or c", "a in 0; not; b in 0; not; or; c in 0; not; or"},
      {"`my column` < 1", "my column < 1"},
      {"`and` < 1", "and < 1"},
      {"x.y-z:w < 1", "x.y-z:w < 1"},
      {"größe < 1", "größe < 1"},
      {"a < 9223372036854775807", "a < 9223372036854775807"},
      {"a > -9223372036854775808", "a > -9223372036854775808"},
      {"a < 9223372036854775808", "a < ~9.22337e+18"},
      {"a < .5", "a < ~0.5"},
      {"a < 1e-3", "a < ~0.001"},
      {"notable < 1", "notable < 1"},
      {"a < 1\n  and\tb", "a < 1; b in 0; not; and"},
  };
  for (const auto& [text, terms] : texts) {
    CAPTURE(text);
    VICINITY_ASSERT_OK_AND_ASSIGN(const Condition condition, ParseCondition(text));
    CHECK(Terms(condition) == terms);
  }
}

TEST_CASE("what is no condition is refused, with the place and what was expected",
          "[condition_text]") {
  const std::vector<std::pair<std::string, std::string>> texts = {
      {"", "expected a column at character 1, found the end"},
      {"year >", "expected a number at character 7, found the end"},
      {"year > high", "expected a number at character 8, found `high`"},
      {"year 5", "expected `and`, `or` or the end at character 6, found `5`"},
      {"year = 1 year", "at character 10, found `year`"},
      {"(a", "expected `)` at character 3"},
      {"a)", "expected `and`, `or` or the end at character 2"},
      {"a and", "expected a column at character 6"},
      {"and a", "expected a column at character 1, found `and a`"},
      {"a in 1", "expected `(` at character 6"},
      {"a in ()", "expected a number at character 7"},
      {"a in (1", "expected `,` at character 8"},
      {"a in (1 2)", "expected `,` at character 9"},
      {"a not 1", "expected `in` at character 7"},
      {"1 < a", "expected a column at character 1"},
      {"a < 1 < 2", "at character 7, found `< 2`"},
      {"a <> 1", "expected a number at character 4"},
      {"a < 1e999", "expected a number at character 5"},
      {"a < nan", "expected a number"},
      {"a < 1-2", "expected a number at character 5"},
      {"a & b", "expected a column, a number or one of"},
      {"`a < 1", "expected a second `"},
      {"true", "expected a column"},
      {std::string("a\0b", 3), "expected a column, a number or one of"},
  };
  for (const auto& [text, problem] : texts) {
    CAPTURE(text);
    const absl::Status status = ParseCondition(text).status();
    VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
    CHECK_THAT(std::string(status.message()), Catch::Contains(problem));
  }
}

std::string Repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST_CASE("conditions that are too large are refused before they take memory", "[condition_text]") {
  VICINITY_CHECK_OK(ParseCondition(Repeated("(", 90) + "a" + Repeated(")", 90)));
  VICINITY_CHECK_OK(ParseCondition("a > 0" + Repeated(" and a > 0", 127)));
  VICINITY_CHECK_OK(ParseCondition("a in (0" + Repeated(",1", 1023) + ")"));
  const std::vector<std::pair<std::string, std::string>> texts = {
      {Repeated("(", 30'000) + "a", "nested more than 100"},
      {Repeated("not ", 10'000) + "a", "nested more than 100"},
      {"a > 0" + Repeated(" and a > 0", 128), "more than 256 terms"},
      {"a in (0" + Repeated(",1", 1024) + ")", "1025 numbers, at most 1024"},
      {Repeated("a", 1 << 17), "131072 bytes, at most 65536"},
  };
  for (const auto& [text, problem] : texts) {
    const absl::Status status = ParseCondition(text).status();
    VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
    CHECK_THAT(std::string(status.message()), Catch::Contains(problem));
    CHECK(status.message().size() < 300);
  }
}

}  // namespace
}  // namespace vicinity
