// Stored indexes of columns with one value a row: which rows have which values (docs/formats.md).
//
// An index is *runs*: of each kIndexRunRows rows of the column their values in rising order, and
// behind these the rows in the same order. So what a comparison holds for lies in one stretch of
// each run, or, for a list of numbers, one a number.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partition/dataset/verified_file.h"
#include "partition/schema/condition.h"
#include "partition/schema/schema.h"

namespace vicinity {

// Rows of a run; the last one has what is left.
inline constexpr int64_t kIndexRunRows = int64_t{1} << 22;

// Of a row in an index file: its value and 4 bytes.
int64_t IndexRowBytes(DType dtype);

// The run of `count` <= kIndexRunRows rows whose values lie at `values`, as it is stored. Values
// rise as conditions compare them, NaN behind all others; rows of equal ones rise, and all NaN are
// equal, and -0 and 0. So there is one way to write a run. `out` has count * IndexRowBytes bytes.
//
// Memory: 12 bytes a row.
void MakeIndexRun(DType dtype, const char* values, int64_t count, char* out);

// Places [begin, end) of a run.
struct IndexStretch {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
};

// Threads:  immutable; any number may read.
// Lifetime: the file, or the memory, must outlive it.
// Errors:   DataLoss naming file and page, or a row that is not in its run though the checksums
//           hold; Unavailable if the file keeps changing.
class ColumnIndex {
 public:
  // `bytes`: all runs of a column with `num_rows` rows. `file`: where they are; null: in memory.
  ColumnIndex(DType dtype, int64_t num_rows, std::string_view bytes, VerifiedFile* file);

  int64_t RunRows(int64_t run) const;

  // Appends the stretches of a run, rising, for which a comparison with this column holds, or, if
  // `negated`, does not. It reads as many values as it takes to find each number.
  absl::Status FindStretches(int64_t run, const RowCondition::Term& term, bool negated,
                             std::vector<IndexStretch>* stretches) const;

  // Appends the rows of a stretch, counted from the run's first one, in its order.
  absl::Status AppendRows(int64_t run, const IndexStretch& stretch,
                          std::vector<uint32_t>* rows) const;

 private:
  const char* RunBegin(int64_t run) const;
  // The first place whose value is not on this side of the numbers that are sought.
  template <typename T, typename IsBefore>
  absl::StatusOr<int64_t> FirstNot(int64_t run, const IsBefore& is_before) const;
  template <typename T>
  absl::StatusOr<IndexStretch> FindOne(int64_t run, ConditionOp op, T number) const;
  template <typename T>
  absl::Status FindAll(int64_t run, ConditionOp op, const std::vector<T>& numbers,
                       std::vector<IndexStretch>* stretches) const;
  absl::Status CopyRows(int64_t run, const IndexStretch& stretch, uint32_t* rows) const;

  const DType dtype_;
  const int64_t num_rows_;
  const std::string_view bytes_;
  VerifiedFile* const file_;
};

}  // namespace vicinity
