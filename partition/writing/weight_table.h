// The table of an edge type's weight column: what DatasetWriter stores and `verify` makes again.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partition/dataset/alias_table.h"
#include "partition/dataset/shard.h"
#include "partition/schema/schema.h"

namespace vicinity {

// The weight at `bytes`, of type float32 or float64.
double LoadWeight(DType dtype, const char* bytes);

// Finite and not below 0.
bool IsWeight(double weight);

// The lists of one edge type, and the weights of their edges.
struct WeightedLists {
  absl::Span<const uint64_t> offsets;  // num targets + 1
  IdArray edge_ids;                    // by position, for errors
  ColumnView weights;                  // by position, one value an edge
  DType dtype = DType::kFloat32;       // of the weights, or kFloat64

  int64_t num_targets() const { return static_cast<int64_t>(offsets.size()) - 1; }
  // As EdgeTable: positions [begin, begin + degree) always exist.
  int64_t begin(int64_t row) const { return static_cast<int64_t>(offsets[row]); }
  int64_t degree(int64_t row) const;
};

// Threads:  one at a time.
// Lifetime: what the lists point to must outlive it.
class WeightTable {
 public:
  explicit WeightTable(const WeightedLists& lists) : lists_(lists) {}

  // The table of the list of target `row`, valid until the next call. InvalidArgument naming the
  // edge's id and its weight: below 0, infinite or not a number; ResourceExhausted: a list longer
  // than kMaxWeightedDegree.
  absl::StatusOr<absl::Span<const AliasEntry>> Make(int64_t row);

 private:
  const WeightedLists lists_;
  AliasBuilder builder_;
  std::vector<double> weights_;
  std::vector<AliasEntry> table_;
};

}  // namespace vicinity
