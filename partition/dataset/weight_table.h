// The table of an edge type's weight column: what DatasetWriter stores and `verify` makes again.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partition/dataset/alias_table.h"
#include "partition/dataset/schema.h"
#include "partition/dataset/shard.h"

namespace vicinity {

// The weight at `bytes`, of type float32 or float64.
double LoadWeight(DType dtype, const char* bytes);

// Finite and not below 0.
bool IsWeight(double weight);

// Threads:  one at a time.
// Lifetime: what `edges` points to must outlive it.
class WeightTable {
 public:
  // `edges` has offsets, edge ids and columns; `column` is float32 or float64, one value an edge.
  WeightTable(const EdgeTable& edges, DType dtype, int column);

  // The table of the list of target `row`, valid until the next call. InvalidArgument naming the
  // edge's id and its weight: below 0, infinite or not a number; ResourceExhausted: a list longer
  // than kMaxWeightedDegree.
  absl::StatusOr<absl::Span<const AliasEntry>> Make(int64_t row);

 private:
  const EdgeTable& edges_;
  const DType dtype_;
  const ColumnView column_;
  AliasBuilder builder_;
  std::vector<double> weights_;
  std::vector<AliasEntry> table_;
};

}  // namespace vicinity
