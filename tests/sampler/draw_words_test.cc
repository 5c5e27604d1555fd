#include "sampler/draw_words.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "proto/common/random.h"

namespace vicinity {
namespace {

TEST_CASE("words are those of the node's stream, from any block on", "[draw_words]") {
  const uint32_t tree = GENERATE(0u, 1u, 0xffffffffu);
  const uint32_t first_block = GENERATE(0u, 1u, 7u, uint32_t{1} << 31);
  for (uint64_t num_words = 1; num_words <= 70; ++num_words) {
    std::vector<uint32_t> words((num_words + 15) / 16 * 16);
    const uint64_t key = 0x123456789abcdef0 + num_words;
    DrawWords(99, key, tree, first_block, num_words, words.data());
    NodeDraws draws(99, key, tree, first_block);
    for (uint64_t i = 0; i < num_words; ++i) REQUIRE(words[i] == draws.Next32());
  }
}

TEST_CASE("a later block is the rest of the stream; trees have streams of their own",
          "[draw_words]") {
  NodeDraws whole(1, 2);
  for (int i = 0; i < 12; ++i) whole.Next32();
  NodeDraws rest(1, 2, 0, 3);
  NodeDraws other(1, 2, 1, 3);
  int same = 0;
  for (int i = 0; i < 8; ++i) {
    const uint32_t word = rest.Next32();
    CHECK(word == whole.Next32());
    same += word == other.Next32() ? 1 : 0;
  }
  CHECK(same == 0);
}

}  // namespace
}  // namespace vicinity
