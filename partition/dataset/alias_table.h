// Tables for weighted draws in constant time: Walker's alias method (ACM TOMS 3(3), 1977), made as
// Vose made them (IEEE TSE 17(9), 1991), but in whole numbers, so that what a table says of its
// weights is exact and the same on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace vicinity {

// One position of a list of d. A draw takes a position i, each of the d equally likely, and a word
// u, uniform over [0, 2^32): it gives i if u < share, else other & kOtherMask.
struct AliasEntry {
  static constexpr uint32_t kZeroWeight = uint32_t{1} << 31;  // in `other`: i itself has weight 0
  static constexpr uint32_t kOtherMask = kZeroWeight - 1;

  uint32_t share = 0;
  uint32_t other = 0;  // i itself where the position keeps all of its 2^32 (share is then 2^32 - 1)

  bool has_weight() const { return (other & kZeroWeight) == 0; }
};
static_assert(sizeof(AliasEntry) == 8);

inline constexpr int64_t kMaxWeightedDegree = int64_t{AliasEntry::kOtherMask};

// No position of the list has weight: drawing from it gives nothing. `list` is not empty.
inline bool HasNoWeight(const AliasEntry* list) {
  return list->share == 0 && list->other == AliasEntry::kZeroWeight;
}

// Weights as the table keeps them: position i is drawn in units[i] of degree x 2^32 cases, and
// their sum is just that. 0 exactly where the weight is 0. All are 0 where no position has weight.
void AliasUnits(absl::Span<const AliasEntry> table, std::vector<uint64_t>* units);

// Threads: one at a time; keeps its memory from list to list.
class AliasBuilder {
 public:
  // Fills the table of one list of at most kMaxWeightedDegree weights, each finite and not below 0.
  // units[i] is weights[i] x degree x 2^32 / sum, rounded to a whole number, at least 1 for a
  // positive weight; what rounding leaves over goes to the first of the largest weights.
  void Fill(absl::Span<const double> weights, absl::Span<AliasEntry> table);

 private:
  void Divide(absl::Span<const double> weights, size_t largest);

  std::vector<uint64_t> units_;
  std::vector<uint32_t> light_;  // positions with less than 2^32 units left
  std::vector<uint32_t> heavy_;
};

}  // namespace vicinity
