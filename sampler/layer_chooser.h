// Which edges of a list a target draws where all targets of a hop draw by the same numbers, one a
// source: LABOR (Balin and Catalyurek, "Layer-Neighbor Sampling", NeurIPS 2023) as sequential
// Poisson sampling, which is what DGL's sample_layer_neighbors does without importance sampling.
//
// Every source u has a number r(u), uniform over [0, 1). A target takes the `fanout` edges of its
// list with the smallest r(u) / w, w being the edge's weight, or 1. So
//   - a source whose number is below the thresholds of two targets is drawn by both, and the
//     targets of a hop together have far fewer sources than if each drew for itself;
//   - of each list by itself, the sample is a uniform one without replacement: all subsets of
//     min(fanout, degree) edges are equally likely;
//   - by weight it is order sampling (Ohlsson, J. Off. Stat. 14(2), 1998): the chance of an edge is
//     near min(1, c w) with c such that chances add up to the fanout, where successive draws
//     (sampler/weighted_chooser.h) are near 1 - exp(-c w). Of two edges and a fanout of 1, the
//     lighter one, of weight a beside b, has the chance a / 2b instead of a / (a + b). Edges of
//     weight 0 are never drawn. Weights are those of the list's table, so the order is exact but
//     for differences below 2^-32 of the mean weight, and for rounding to 53 bits.
// Edges are told in the order of the list.
//
// Parallel edges. The n-th of several edges in a row from one source (lists are sorted by source)
// has a number of its own, of which the first is the source's. So each of them is as likely as any
// other edge. (DGL's share one number.) Where lists are in the order of time, this holds of edges
// at one time; those of one source at several times share numbers, as DGL's do. Of equal numbers
// the edge that comes first is smaller; the first edges of two sources never have the same.
//
// The formula of numbers: sampler/rules/source_numbers.h. Since it goes by global ids, another cut
// of a graph gives other draws: the keys of sources that other shards own are not beside the lists.
// On one cut it is the same wherever lists are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "sampler/rules/source_numbers.h"

namespace vicinity {

// Threads: one at a time; keeps its memory from list to list.
// Memory:  O(fanout); by weight 24 bytes an edge of the longest list.
// Cost:    a pass over the list: NumberFilter's, and 5 ns for each of some 30 edges that are left.
class LayerChooser {
 public:
  // `fanout` > 0.
  LayerChooser(int64_t fanout, uint64_t stream);

  // The most edges that a list of `degree` gives.
  uint64_t MostFor(uint64_t degree) const { return degree < fanout_ ? degree : fanout_; }

  // Writes the rising positions of the edges that are drawn of a list, MostFor(its size) of them,
  // to `out`, and says how many. Source: uint32_t, uint64_t, int64_t.
  template <typename Source>
  uint64_t Choose(absl::Span<const Source> sources, int64_t* out);
  // ... by weight: units[i] (AliasUnits) is that of edge i. There may be fewer.
  template <typename Source>
  uint64_t Choose(absl::Span<const Source> sources, absl::Span<const uint64_t> units, int64_t* out);

 private:
  // Of edges that compete for a place: candidate c has the key keys_[c] and is at places_[c].
  template <typename Source>
  void CollectBelow(absl::Span<const Source> sources, uint64_t limit);
  uint64_t ChooseCandidates(int64_t* out);

  const uint64_t fanout_;
  const SourceNumbers numbers_;
  std::vector<uint64_t> keys_;
  std::vector<int64_t> places_;
  size_t num_candidates_ = 0;
  std::vector<uint64_t> sorted_;
};

}  // namespace vicinity
