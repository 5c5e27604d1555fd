// Which positions of a neighbour list a target draws, on a device: the answer of the sampler's
// PositionChooser (sampler/position_chooser.h), word by word, in the registers of one thread.
#pragma once

#include <cstdint>

#include "proto/common/device_code.h"
#include "proto/common/random.h"

namespace vicinity {

struct ListDraw {
  uint64_t stream = 0;  // StreamKey() of the hop and edge type
  uint32_t fanout = 0;  // 0: the whole list
  bool replace = false;

  // How many positions a list of `degree` gives.
  VICINITY_HOST_DEVICE uint64_t CountFor(uint64_t degree) const {
    if (fanout == 0 || degree == 0) return degree;
    return replace || degree > fanout ? fanout : degree;
  }
};

inline constexpr uint32_t kMaxFewDraws = 16;

// False, with nothing written, where a word must be drawn again so that draws are exactly uniform:
// about one list in 2^32 / (fanout * degree).
//
// Floyd's algorithm (CACM 30(9), 1987) with every draw in a register: the loops unroll.
VICINITY_HOST_DEVICE inline bool DrawFew(const ListDraw& draw, uint64_t key, uint32_t degree,
                                         uint64_t first, uint64_t* out) {
  const uint32_t first_bound = draw.replace ? degree : degree - draw.fanout + 1;
  const uint32_t step = draw.replace ? 0 : 1;
  uint32_t drawn[kMaxFewDraws];
  bool again = false;
  VICINITY_UNROLL
  for (uint32_t b = 0; b < kMaxFewDraws / 4; ++b) {
    if (4 * b >= draw.fanout) continue;
    const r123::Philox4x32::ctr_type words = r123::Philox4x32()(
        {{static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32), b, 0}},
        {{static_cast<uint32_t>(draw.stream), static_cast<uint32_t>(draw.stream >> 32)}});
    VICINITY_UNROLL
    for (uint32_t w = 0; w < 4; ++w) {
      const uint32_t i = 4 * b + w;
      const uint32_t bound = first_bound + step * i;
      const uint64_t product = uint64_t{words.v[w]} * bound;
      again |= i < draw.fanout && static_cast<uint32_t>(product) < bound;
      drawn[i] = static_cast<uint32_t>(product >> 32);
    }
  }
  if (again) return false;
  VICINITY_UNROLL
  for (uint32_t i = 0; i < kMaxFewDraws; ++i) {
    if (i >= draw.fanout) continue;
    bool taken = false;
    VICINITY_UNROLL
    for (uint32_t j = 0; j < i; ++j) taken |= drawn[j] == drawn[i];
    if (taken && !draw.replace) drawn[i] = first_bound + i - 1;
    out[i] = first + drawn[i];
  }
  return true;
}

VICINITY_HOST_DEVICE inline void DrawAny(const ListDraw& draw, uint64_t key, uint64_t degree,
                                         uint64_t first, uint64_t* out) {
  NodeDraws draws(draw.stream, key);
  for (uint32_t i = 0; i < draw.fanout; ++i) {
    const uint64_t bound = draw.replace ? degree : degree - draw.fanout + i + 1;
    uint64_t position = first + draws.Below(bound);
    if (!draw.replace) {
      for (uint32_t j = 0; j < i; ++j) {
        if (out[j] != position) continue;
        position = first + bound - 1;
        break;
      }
    }
    out[i] = position;
  }
}

// Writes CountFor(degree) positions of [first, first + degree) to `out`.
VICINITY_HOST_DEVICE inline void DrawPositions(const ListDraw& draw, uint64_t key, uint64_t degree,
                                               uint64_t first, uint64_t* out) {
  if (draw.fanout == 0 || degree == 0 || (!draw.replace && degree <= draw.fanout)) {
    for (uint64_t i = 0; i < degree; ++i) out[i] = first + i;
    return;
  }
  const bool few = draw.fanout <= kMaxFewDraws && degree < (uint64_t{1} << 31);
  if (few && DrawFew(draw, key, static_cast<uint32_t>(degree), first, out)) return;
  DrawAny(draw, key, degree, first, out);
}

}  // namespace vicinity
