#include "cache/device/draws.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "proto/common/random.h"
#include "sampler/position_chooser.h"

namespace vicinity {
namespace {

// Both as the sampler draws them and as a device's thread does.
void CheckDraw(uint32_t fanout, bool replace, uint64_t degree, uint64_t key) {
  constexpr uint64_t kBegin = 1000;
  constexpr uint64_t kStream = 0x1234567890abcdef;
  CAPTURE(fanout, replace, degree, key);
  PositionChooser chooser(fanout == 0 ? -1 : int64_t{fanout}, replace, kStream);
  ListDraw draw;
  draw.stream = kStream;
  draw.fanout = fanout;
  draw.replace = replace;
  const uint64_t count = chooser.CountFor(degree);
  REQUIRE(draw.CountFor(degree) == count);
  std::vector<int64_t> expected(count);
  chooser.Choose(kBegin, degree, key, /*tree=*/0, expected.data());
  std::vector<uint64_t> drawn(count + 1, 77);
  DrawPositions(draw, key, degree, kBegin, drawn.data());
  REQUIRE(std::equal(expected.begin(), expected.end(), drawn.begin()));
  REQUIRE(drawn.back() == 77);
}

TEST_CASE("a device's thread draws the sampler's positions", "[draws]") {
  const bool replace = GENERATE(false, true);
  for (uint32_t fanout = 0; fanout <= 40; ++fanout) {
    for (const uint64_t degree : {0, 1, 2, 5, 15, 16, 17, 18, 40, 41, 1000}) {
      for (uint64_t key = 0; key < 20; ++key) CheckDraw(fanout, replace, degree, key);
    }
  }
}

// Every other word is rejected below 2^31; above it, draws are made another way.
TEST_CASE("so it does in lists so long that words are drawn again", "[draws]") {
  const bool replace = GENERATE(false, true);
  const uint64_t degree = GENERATE(uint64_t{0x7fffffff}, uint64_t{0x80000000}, uint64_t{0xc0000001},
                                   uint64_t{0x100000001});
  for (const uint32_t fanout : {1, 4, 16, 17, 33}) {
    for (uint64_t key = 0; key < 50; ++key) CheckDraw(fanout, replace, degree, key);
  }
}

}  // namespace
}  // namespace vicinity
