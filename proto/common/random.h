// Counter-based random numbers: every draw is a pure function of what it is for, so a
// batch is the same for any number of shards, threads, servers or retries.
//
// Philox4x32-10 and Philox4x64-10 (Salmon et al., SC'11), from Random123.
#pragma once

#include <cstdint>

#include "Random123/philox.h"

namespace vicinity {

// What a hop's draws are for. Equal fields mean equal draws.
struct DrawKey {
  uint64_t run_seed = 0;
  uint64_t epoch = 0;
  uint64_t batch = 0;
  uint32_t hop = 0;
  int32_t edge_type = 0;
};

// One 64-bit key for all the draws of a hop along one edge type.
inline uint64_t StreamKey(const DrawKey& key) {
  const r123::Philox4x64::ctr_type out = r123::Philox4x64()(
      {{key.epoch, key.batch, key.hop, static_cast<uint32_t>(key.edge_type)}},
      {{key.run_seed, 0x766963696e697479}});  // "vicinity": apart from other uses of the seed
  return out[0];
}

// A stream of random words for one node: the words depend on (stream, node_key, tree) alone. In
// disjoint sampling a node is drawn for once in every tree that it is in; tree 0 is also everything
// else. The stream of `first_block` begins at word 4 x first_block of that of block 0.
//
// Cost: one Philox4x32-10 block (about 10 ns) for every four 32-bit words.
class NodeDraws {
 public:
  NodeDraws(uint64_t stream, uint64_t node_key, uint32_t tree = 0, uint32_t first_block = 0)
      : key_{{static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)}},
        counter_{{static_cast<uint32_t>(node_key), static_cast<uint32_t>(node_key >> 32),
                  first_block, tree}} {}

  uint32_t Next32() {
    if (used_ == 4) {
      block_ = r123::Philox4x32()(counter_, key_);
      ++counter_[2];
      used_ = 0;
    }
    return block_[used_++];
  }
  uint64_t Next64() {
    const uint64_t high = Next32();
    return high << 32 | Next32();
  }

  // Exactly uniform over [0, bound), bound > 0 (Lemire 2019: multiply, then reject the
  // remainder that would favour some values).
  uint64_t Below(uint64_t bound) {
    if (bound <= UINT32_MAX) return Below32(static_cast<uint32_t>(bound));
    const uint64_t threshold = -bound % bound;
    for (;;) {
      const unsigned __int128 product = static_cast<unsigned __int128>(Next64()) * bound;
      if (static_cast<uint64_t>(product) >= threshold) return static_cast<uint64_t>(product >> 64);
    }
  }

 private:
  uint32_t Below32(uint32_t bound) {
    uint64_t product = uint64_t{Next32()} * bound;
    if (static_cast<uint32_t>(product) < bound) {
      const uint32_t threshold = -bound % bound;
      while (static_cast<uint32_t>(product) < threshold) product = uint64_t{Next32()} * bound;
    }
    return static_cast<uint32_t>(product >> 32);
  }

  const r123::Philox4x32::key_type key_;
  r123::Philox4x32::ctr_type counter_;
  r123::Philox4x32::ctr_type block_{};
  int used_ = 4;
};

}  // namespace vicinity
