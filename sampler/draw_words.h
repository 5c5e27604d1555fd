// The words of a NodeDraws stream, many at once.
#pragma once

#include <cstdint>

namespace vicinity {

// Writes words [4 x first_block, 4 x first_block + num_words) of NodeDraws(stream, key, tree) to
// `words`, which has room for num_words rounded up to a multiple of 16.
//
// Cost: about half of what the stream takes, since blocks are made side by side.
void DrawWords(uint64_t stream, uint64_t key, uint32_t tree, uint32_t first_block,
               uint64_t num_words, uint32_t* words);

}  // namespace vicinity
