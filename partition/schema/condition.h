// Conditions on what columns say of a row: `year >= 2010 and not kind in (3, 4)`, as values. How
// they are written: partition/schema/condition_text.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partition/schema/schema.h"

namespace vicinity {

enum class ConditionOp : uint8_t {
  // Of a column's value against one number.
  kLess = 1,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kIn,  // it is one of these numbers, of which there may be none
  // Of what the terms before have given: the last one, or the last two.
  kNot,
  kAnd,
  kOr,
};
inline constexpr ConditionOp kLastConditionOp = ConditionOp::kOr;

constexpr bool IsComparison(ConditionOp op) { return op <= ConditionOp::kIn; }

// A number as it is written: whole ones are exact.
struct ConditionNumber {
  bool is_whole = true;
  int64_t whole = 0;
  double real = 0;  // where it is not
};

// As written: columns by their names. Terms stand behind what they join, so that nothing is nested.
struct Condition {
  struct Term {
    ConditionOp op{};
    std::string column{};                    // of a comparison
    std::vector<ConditionNumber> numbers{};  // likewise
  };
  std::vector<Term> terms;
};

// Limits of a condition, wherever it comes from.
inline constexpr int64_t kMostConditionTerms = 256;
inline constexpr int64_t kMostConditionNumbers = 1024;  // of all terms

// For the columns of one type: each comparison has numbers as its column's values are compared,
// which are whole (bool and integers) or real.
struct RowCondition {
  struct Term {
    ConditionOp op{};
    int32_t column = -1;  // of a comparison: its position
    DType dtype{};        // likewise, that of the column
    // Of a comparison either of these; of kIn rising, without doubles.
    std::vector<int64_t> whole{};
    std::vector<double> real{};
  };
  std::vector<Term> terms;
};
bool operator==(const RowCondition& a, const RowCondition& b);

// Whether values of this type are compared as whole numbers, as bool and integers are.
bool IsWhole(DType dtype);

// The columns that it names, in the order of their first mention.
std::vector<std::string> ColumnsOf(const Condition& condition);

// InvalidArgument naming a column that is not there, or has more than one value a row.
//
// Integers are compared exactly, with numbers that are not whole as well. A number beside a column
// of floats narrower than float64 is rounded to its type first, as a user means it who compares
// with 0.1: no stored float16, bfloat16 or float32 is 0.1.
absl::StatusOr<RowCondition> ResolveCondition(const Condition& condition,
                                              absl::Span<const ColumnSpec> columns);

// Empty if it fits these columns and can be evaluated, else what is wrong: of a condition that has
// come from elsewhere. Sets each term's dtype.
std::string CompleteCondition(absl::Span<const ColumnSpec> columns, RowCondition* condition);

}  // namespace vicinity
