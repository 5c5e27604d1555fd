// What is drawn along an edge type: one value from the sampling spec through every layer and the
// wire to the loop that draws. What a hop can be asked beside (a time, a filter) becomes a member
// here.
#pragma once

#include <cstdint>

namespace vicinity {

struct DrawSpec {
  int64_t fanout = 0;     // neighbours a target, > 0, or kAllNeighbors
  bool replace = false;   // with replacement: `fanout` draws from any non-empty list
  bool weighted = false;  // by the edge type's weight column, else uniformly
};

inline bool operator==(const DrawSpec& a, const DrawSpec& b) {
  return a.fanout == b.fanout && a.replace == b.replace && a.weighted == b.weighted;
}

}  // namespace vicinity
