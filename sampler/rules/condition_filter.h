// Finds the rows for which a condition holds, many at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "partition/schema/condition.h"

namespace vicinity {

// Threads:  one at a time; keeps its memory from call to call.
// Lifetime: the condition must outlive it.
// Memory:   a byte a row, and 4 KiB for each answer that waits to be joined, of which a condition
//           has 256 at most.
class ConditionFilter {
 public:
  // `condition` is complete (CompleteCondition), or what ResolveCondition gave.
  explicit ConditionFilter(const RowCondition& condition);

  // Positions of the columns that it reads, each once.
  absl::Span<const int32_t> columns() const { return columns_; }

  // Of each of `count` rows 1 if the condition holds for it, else 0. values[k] points to the rows'
  // values in columns()[k], one behind the other, aligned. A comparison with NaN is false.
  // Good until the next call.
  absl::Span<const uint8_t> Evaluate(absl::Span<const char* const> values, int64_t count);

 private:
  // Sets answers_[0], of these rows.
  void EvaluateSome(absl::Span<const char* const> values, int64_t first, int64_t count);
  void Compare(const RowCondition::Term& term, const char* values, absl::Span<uint8_t> out) const;

  const RowCondition& condition_;
  std::vector<int32_t> columns_;
  std::vector<size_t> column_of_term_;         // of a comparison: its place in columns_
  std::vector<std::vector<uint8_t>> answers_;  // a stack, of some rows
  std::vector<uint8_t> holds_;
};

}  // namespace vicinity
