#include "partition/schema/condition.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/narrow_floats.h"

namespace vicinity {
namespace {

using Term = RowCondition::Term;

constexpr double kTwoTo63 = 9223372036854775808.0;

std::string NamesOf(absl::Span<const ColumnSpec> columns) {
  return absl::StrJoin(columns, ", ", [](std::string* out, const ColumnSpec& column) {
    absl::StrAppend(out, column.name);
  });
}

absl::StatusOr<int32_t> FindColumn(const std::string& name, absl::Span<const ColumnSpec> columns) {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name != name) continue;
    if (columns[i].num_values() == 1) return static_cast<int32_t>(i);
    return absl::InvalidArgumentError(absl::StrCat(
        "column ", name, " has ", columns[i].num_values(), " values a row, a condition needs one"));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "there is no column ", name, "; there are: ", columns.empty() ? "none" : NamesOf(columns)));
}

// As near as the column's type comes to it.
double Rounded(DType dtype, double number) {
  if (dtype == DType::kFloat64) return number;
  const auto single = static_cast<float>(number);
  if (dtype == DType::kFloat16) return FromFloat16(ToFloat16(single));
  if (dtype == DType::kBfloat16) return FromBfloat16(ToBfloat16(single));
  return single;
}

double RealOf(const ConditionNumber& number) {
  return number.is_whole ? static_cast<double>(number.whole) : number.real;
}

Term Never(Term term) {
  term.op = ConditionOp::kIn;
  term.whole.clear();
  return term;
}

Term Always(Term term) {
  term.op = ConditionOp::kGreaterEqual;
  term.whole = {std::numeric_limits<int64_t>::min()};
  return term;
}

// An order of whole numbers against one that is not: the same against its neighbour.
Term AgainstReal(Term term, double number) {
  const bool less = term.op == ConditionOp::kLess || term.op == ConditionOp::kLessEqual;
  if (number >= kTwoTo63) return less ? Always(std::move(term)) : Never(std::move(term));
  if (number < -kTwoTo63) return less ? Never(std::move(term)) : Always(std::move(term));
  const double below = std::floor(number);
  term.whole = {static_cast<int64_t>(below)};
  if (below != number) term.op = less ? ConditionOp::kLessEqual : ConditionOp::kGreater;
  return term;
}

Term OfWhole(Term term, absl::Span<const ConditionNumber> numbers) {
  if (term.op != ConditionOp::kIn) {
    if (!numbers[0].is_whole) return AgainstReal(std::move(term), numbers[0].real);
    term.whole = {numbers[0].whole};
    return term;
  }
  for (const ConditionNumber& number : numbers) {
    if (number.is_whole) term.whole.push_back(number.whole);
    const bool fits = number.real >= -kTwoTo63 && number.real < kTwoTo63;
    if (number.is_whole || !fits || std::floor(number.real) != number.real) continue;
    term.whole.push_back(static_cast<int64_t>(number.real));
  }
  return term;
}

Term OfReal(Term term, absl::Span<const ConditionNumber> numbers) {
  for (const ConditionNumber& number : numbers) {
    term.real.push_back(Rounded(term.dtype, RealOf(number)));
  }
  return term;
}

template <typename T>
void SortUnique(std::vector<T>* values) {
  std::sort(values->begin(), values->end());
  values->erase(std::unique(values->begin(), values->end()), values->end());
}

template <typename T>
bool Rises(const std::vector<T>& values) {
  for (size_t i = 1; i < values.size(); ++i) {
    if (!(values[i - 1] < values[i])) return false;
  }
  return values.size() != 1 || values[0] == values[0];  // NaN is nowhere in an order
}

// Of a comparison that has come from elsewhere.
std::string TermProblem(absl::Span<const ColumnSpec> columns, Term* term) {
  if (term->column < 0 || term->column >= static_cast<int64_t>(columns.size())) {
    return absl::StrCat("a condition on column ", term->column, ", there are ", columns.size());
  }
  const ColumnSpec& column = columns[term->column];
  if (column.num_values() != 1) {
    return absl::StrCat("a condition on column ", column.name, ", which has ", column.num_values(),
                        " values a row");
  }
  term->dtype = column.dtype;
  const size_t count = IsWhole(column.dtype) ? term->whole.size() : term->real.size();
  if (count != term->whole.size() + term->real.size()) {
    return absl::StrCat("a condition on column ", column.name, " has numbers of another type");
  }
  if (term->op != ConditionOp::kIn && count != 1) {
    return absl::StrCat("a comparison of column ", column.name, " with ", count, " numbers");
  }
  if (term->op == ConditionOp::kIn && !(Rises(term->whole) && Rises(term->real))) {
    return absl::StrCat("the numbers for column ", column.name, " do not rise");
  }
  return "";
}

}  // namespace

bool operator==(const RowCondition& a, const RowCondition& b) {
  return std::equal(a.terms.begin(), a.terms.end(), b.terms.begin(), b.terms.end(),
                    [](const Term& x, const Term& y) {
                      return x.op == y.op && x.column == y.column && x.dtype == y.dtype &&
                             x.whole == y.whole && x.real == y.real;
                    });
}

bool IsWhole(DType dtype) { return dtype < DType::kFloat16; }

std::vector<std::string> ColumnsOf(const Condition& condition) {
  std::vector<std::string> columns;
  for (const Condition::Term& term : condition.terms) {
    if (!IsComparison(term.op)) continue;
    if (std::find(columns.begin(), columns.end(), term.column) == columns.end()) {
      columns.push_back(term.column);
    }
  }
  return columns;
}

absl::StatusOr<RowCondition> ResolveCondition(const Condition& condition,
                                              absl::Span<const ColumnSpec> columns) {
  RowCondition resolved;
  for (const Condition::Term& from : condition.terms) {
    Term term;
    term.op = from.op;
    if (IsComparison(from.op)) {
      const absl::StatusOr<int32_t> column = FindColumn(from.column, columns);
      if (!column.ok()) return column.status();
      term.column = *column;
      term.dtype = columns[*column].dtype;
      term = IsWhole(term.dtype) ? OfWhole(std::move(term), from.numbers)
                                 : OfReal(std::move(term), from.numbers);
      if (term.op == ConditionOp::kIn) {
        SortUnique(&term.whole);
        SortUnique(&term.real);
      }
    }
    resolved.terms.push_back(std::move(term));
  }
  return resolved;
}

std::string CompleteCondition(absl::Span<const ColumnSpec> columns, RowCondition* condition) {
  if (static_cast<int64_t>(condition->terms.size()) > kMostConditionTerms) {
    return absl::StrCat("a condition of ", condition->terms.size(), " terms, at most ",
                        kMostConditionTerms);
  }
  int64_t depth = 0;
  size_t numbers = 0;
  for (Term& term : condition->terms) {
    if (term.op < ConditionOp::kLess || term.op > kLastConditionOp) {
      return absl::StrCat("a condition's term of kind ", static_cast<int>(term.op));
    }
    if (IsComparison(term.op)) {
      const std::string problem = TermProblem(columns, &term);
      if (!problem.empty()) return problem;
      numbers += term.whole.size() + term.real.size();
      ++depth;
      continue;
    }
    const int64_t joined = term.op == ConditionOp::kNot ? 1 : 2;
    if (depth < joined) return "a condition's term joins what is not there";
    depth -= joined - 1;
  }
  if (depth != 1) return absl::StrCat("a condition that gives ", depth, " answers");
  if (static_cast<int64_t>(numbers) <= kMostConditionNumbers) return "";
  return absl::StrCat("a condition of ", numbers, " numbers, at most ", kMostConditionNumbers);
}

}  // namespace vicinity
