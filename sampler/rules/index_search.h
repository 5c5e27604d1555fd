// Finds rows that meet a condition by stored indexes of its columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partition/dataset/column_index.h"
#include "partition/schema/condition.h"

namespace vicinity {

// What indexes tell of a run of rows.
struct IndexedRows {
  bool any = false;    // nothing that is worth it: any row may meet the condition, `rows` is empty
  bool exact = false;  // all of `rows` meet it; else they may, and no others
  std::vector<uint32_t> rows{};  // rising, counted from the run's first
};

// Comparisons of columns that have an index are stretches of its runs, also what `not` leaves of
// them; `and` and `or` join the rows. Of an `and` one side that has few rows is enough: those are
// candidates, whose values are looked at, and the other side may have no index at all. Where too
// many rows are left, reading all is faster, and `any` says so.
//
// Threads:  one at a time.
// Lifetime: what the indexes point to, and the condition, must outlive it.
// Memory:   4 bytes a row of what is joined: some times an eighth of a run at most.
class IndexSearch {
 public:
  // indexes[i]: of the column of condition term i; nothing: it has none, or joins others. The
  // condition can be evaluated (CompleteCondition).
  IndexSearch(const RowCondition& condition, std::vector<std::optional<ColumnIndex>> indexes);

  // Cost: a binary search for each number; the rows of the comparisons that are joined.
  absl::StatusOr<IndexedRows> Find(int64_t run);

 private:
  // Without `not`, which is in the comparisons.
  struct Part {
    size_t term = 0;
    bool is_comparison = true;
    bool negated = false;
    bool is_and = false;
    size_t left = 0;  // parts before
    size_t right = 0;
    // Of the run that is looked at:
    std::vector<IndexStretch> stretches{};  // of a comparison with an index
    int64_t most = 0;                       // rows, at most
  };

  void Negate(size_t part);
  absl::Status Bound(int64_t run, Part* part) const;
  absl::StatusOr<IndexedRows> Collect(int64_t run, const Part& part) const;
  absl::StatusOr<IndexedRows> CollectAll(int64_t run, const Part& part) const;
  absl::StatusOr<IndexedRows> CollectAny(int64_t run, const Part& part) const;

  const RowCondition& condition_;
  const std::vector<std::optional<ColumnIndex>> indexes_;
  std::vector<Part> parts_;  // what they join comes before; the last is the whole
};

}  // namespace vicinity
