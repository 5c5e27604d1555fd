// Which positions of a neighbour list a target draws, by weight.
//
// Attempt a of a target takes words 2a and 2a + 1 of its NodeDraws stream: one for a column of the
// list's alias table (an attempt whose word would make columns unequal is passed over), one for the
// choice between the column's two positions. So each attempt gives position i in exactly
// units[i] of degree x 2^32 cases (partition/dataset/alias_table.h).
//
// - With replacement the draws are the first attempts.
// - Without, they are the first attempts that give something new: successive draws, each among the
//   positions left, with chances in proportion to their weights. Where attempts keep giving what is
//   taken, the rest of the draws go on exactly so over the weights that are left (how far attempts
//   went says nothing about what they would have given next), found in a Fenwick tree.
//
// Lists that are taken whole, and all neighbours, are in order, without those of weight 0.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "partition/dataset/alias_table.h"

namespace vicinity {

// One target's list.
struct WeightedList {
  const AliasEntry* table = nullptr;  // `degree` entries
  uint64_t begin = 0;                 // its first position in the shard
  uint64_t degree = 0;                // at most kMaxWeightedDegree
  uint64_t key = 0;                   // the target's
  uint32_t tree = 0;
};

// Threads: one at a time. Memory: 8 bytes a position of the longest list where attempts failed.
class WeightedChooser {
 public:
  // A target's first attempts, drawn some time before what they need has come from memory.
  struct Attempts {
    static constexpr uint32_t kMost = 32;
    alignas(16) std::array<uint32_t, 2 * kMost> words;
  };

  // `fanout` > 0, or kAllNeighbors.
  WeightedChooser(int64_t fanout, bool replace, uint64_t stream);

  // The most positions that a list of `degree` gives.
  uint64_t MostFor(uint64_t degree) const {
    if (all_ || degree == 0) return degree;
    return replace_ || degree > fanout_ ? fanout_ : degree;
  }

  // Draws the first attempts and asks memory for what Choose will read.
  void Prepare(const WeightedList& list, Attempts* attempts) const;

  // Writes at most MostFor(degree) positions in [begin, begin + degree) to `out`: how many.
  // `attempts` are what Prepare made of the same list.
  uint64_t Choose(const WeightedList& list, const Attempts& attempts, int64_t* out);

 private:
  class AttemptStream;

  // False, with nothing but rubbish in `out`, for what is rare: an attempt that is passed over, or
  // a position drawn twice.
  bool ChooseFew(const WeightedList& list, const Attempts& attempts, int64_t* out) const;
  uint64_t ChooseReplace(const WeightedList& list, const Attempts& attempts, int64_t* out) const;
  uint64_t ChooseDistinct(const WeightedList& list, const Attempts& attempts, int64_t* out);
  // Goes on where `taken` positions are in `out`: how many there are in the end.
  uint64_t ChooseRest(const WeightedList& list, uint64_t taken, int64_t* out);

  const bool all_;
  const bool replace_;
  const uint64_t fanout_;
  const uint64_t stream_;
  const uint32_t num_prepared_;  // attempts
  absl::flat_hash_set<int64_t> taken_;
  std::vector<uint64_t> units_;
};

// Draws from lists whose weights are at hand, as the units of an alias table: those of which some
// positions are left out, on a server as well as by a client that knows what is left. The same
// units, stream, key and tree give the same positions, wherever they are drawn.
//
// Threads: one at a time; keeps its memory from list to list.
class UnitsChooser {
 public:
  // `fanout` > 0, or kAllNeighbors.
  UnitsChooser(int64_t fanout, bool replace, uint64_t stream);

  // Sets `chosen` to positions of `units`, with chances in proportion to them (without replacement
  // draw by draw, each among what is left); lists that are taken whole, and all neighbours, are in
  // order, without those of 0. Up to 64 positions it draws exactly, of more by a new table
  // (AliasBuilder), so to 2^-32 of the mean.
  // Cost: a pass over the list; for so many more, a table.
  void Choose(absl::Span<const uint64_t> units, uint64_t key, uint32_t tree,
              std::vector<int64_t>* chosen);

 private:
  static constexpr size_t kMostFew = 64;
  void ChooseFew(absl::Span<const uint64_t> units, uint64_t key, uint32_t tree,
                 std::vector<int64_t>* chosen) const;

  const int64_t fanout_;
  const bool replace_;
  const uint64_t stream_;
  WeightedChooser by_table_;
  AliasBuilder tables_;
  std::vector<double> weights_;
  std::vector<AliasEntry> table_;
};

}  // namespace vicinity
