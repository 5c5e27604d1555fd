// How likely a node that is expanded draws given ones of its in-edges.
#pragma once

#include <cstdint>

#include "absl/types/span.h"

namespace vicinity {

// How a hop draws along an edge type.
struct DrawRule {
  int64_t fanout = 0;  // > 0, kAllNeighbors, or 0: nothing
  bool replace = false;
  bool weighted = false;  // in proportion to the edges' weights, not alike
};

// What DrawChance needs to know of a node's list: of `degree` edges alike, or with these weights,
// none of them below 0, in any order. 0 for an empty list. Cost of weights: some passes over them.
double DrawRate(const DrawRule& rule, int64_t degree);
double DrawRate(const DrawRule& rule, absl::Span<const double> weights);

// The chance that at least one of some edges is drawn; `amount`: how many they are, or the sum of
// their weights.
//
// With n draws with replacement 1 - (1 - share)^n, where share is that of the list. Without,
// 1 - C(d - k, n) / C(d, n) for k edges alike. Weighted without replacement, the chance that one of
// exponential clocks, ticking at the weights, rings before the time at which n rings are expected:
// exact for n = 1, where it is share, for n >= d and for equal weights. Else it is an estimate;
// of weights spread like an exponential or log-normal distribution, edges' chances are off by 5 %
// of their mean or less on average, never by more than 0.1, and least in long lists
// (tests/cache/vip/draw_chance_test.cc).
double DrawChance(const DrawRule& rule, double rate, double amount);

}  // namespace vicinity
