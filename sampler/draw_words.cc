#include "sampler/draw_words.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "proto/common/random.h"

namespace vicinity {
namespace {

// The blocks do not depend on each other, so the processor works on all of them at once.
template <int kBlocks>
void Blocks(uint64_t stream, uint64_t key, uint32_t tree, uint32_t first_block, uint32_t* words) {
  std::array<r123::Philox4x32::ctr_type, kBlocks> blocks;
  for (uint32_t b = 0; b < kBlocks; ++b) {
    blocks[b] = {
        {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32), first_block + b, tree}};
  }
  r123::Philox4x32::key_type round_key = {
      {static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)}};
  for (int round = 0; round < 10; ++round) {
    if (round > 0) round_key = _philox4x32bumpkey(round_key);
    for (int b = 0; b < kBlocks; ++b) blocks[b] = _philox4x32round(blocks[b], round_key);
  }
  for (int b = 0; b < kBlocks; ++b) std::copy_n(blocks[b].v, 4, words + 4 * b);
}

}  // namespace

void DrawWords(uint64_t stream, uint64_t key, uint32_t tree, uint32_t first_block,
               uint64_t num_words, uint32_t* words) {
  for (; num_words > 16; num_words -= 16, words += 16, first_block += 4) {
    Blocks<4>(stream, key, tree, first_block, words);
  }
  if (num_words <= 4) return Blocks<1>(stream, key, tree, first_block, words);
  if (num_words <= 8) return Blocks<2>(stream, key, tree, first_block, words);
  if (num_words <= 12) return Blocks<3>(stream, key, tree, first_block, words);
  Blocks<4>(stream, key, tree, first_block, words);
}

}  // namespace vicinity
