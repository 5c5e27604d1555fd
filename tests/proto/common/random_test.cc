#include "proto/common/random.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <set>
#include <vector>

namespace vicinity {
namespace {

// Random123's own test vectors (kat_vectors): nought, all ones, digits of pi.
TEST_CASE("the generators are Philox with ten rounds", "[common]") {
  using P32 = r123::Philox4x32;
  CHECK(P32()({{0, 0, 0, 0}}, {{0, 0}}) ==
        P32::ctr_type{{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}});
  CHECK(P32()({{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}}, {{0xffffffff, 0xffffffff}}) ==
        P32::ctr_type{{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}});
  CHECK(P32()({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, {{0xa4093822, 0x299f31d0}}) ==
        P32::ctr_type{{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}});
  using P64 = r123::Philox4x64;
  CHECK(P64()({{0, 0, 0, 0}}, {{0, 0}}) == P64::ctr_type{{0x16554d9eca36314c, 0xdb20fe9d672d0fdc,
                                                          0xd7e772cee186176b, 0x7e68b68aec7ba23b}});
  CHECK(P64()({{0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89}},
              {{0x452821e638d01377, 0xbe5466cf34e90c6c}}) ==
        P64::ctr_type{
            {0xa528f45403e61d95, 0x38c72dbd566e9788, 0xa5a1610e72fd18b5, 0x57bd43b5e52b7fe6}});
}

// A batch drawn today must be drawn again by every later version.
TEST_CASE("streams and draws never change", "[common]") {
  CHECK(StreamKey({}) == 0xe8e7f8103d217900);
  CHECK(StreamKey({1, 2, 3, 4, 5}) == 0x6afaa25d9ad82739);
  NodeDraws draws(StreamKey({1, 2, 3, 4, 5}), 0x123456789abcdef0);
  CHECK(draws.Next32() == 0x2464e1b5);
  CHECK(draws.Next64() == 0xefe27ca11ae95e87);
  CHECK(draws.Below(1000) == 208);
  CHECK(draws.Below(uint64_t{1} << 40) == 0xe50ec432a);
}

TEST_CASE("a stream's words come from its counter blocks in order", "[common]") {
  const uint64_t stream = 0xfedcba9876543210;
  const uint64_t key = 0x0123456789abcdef;
  NodeDraws draws(stream, key);
  for (uint32_t block = 0; block < 3; ++block) {
    const auto words =
        r123::Philox4x32()({{0x89abcdef, 0x01234567, block, 0}}, {{0x76543210, 0xfedcba98}});
    for (int i = 0; i < 4; ++i) CHECK(draws.Next32() == words[i]);
  }
}

TEST_CASE("streams of different uses differ", "[common]") {
  std::set<uint64_t> keys;
  int uses = 0;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    for (uint64_t epoch = 0; epoch < 6; ++epoch) {
      for (uint64_t batch = 0; batch < 6; ++batch) {
        for (uint32_t hop = 0; hop < 6; ++hop) {
          for (int32_t edge_type = 0; edge_type < 6; ++edge_type) {
            keys.insert(StreamKey({seed, epoch, batch, hop, edge_type}));
            ++uses;
          }
        }
      }
    }
  }
  CHECK(static_cast<int>(keys.size()) == uses);
}

// The 99.9 % point of chi-square is near n + 3.1 sqrt(2 n) + 6 for n degrees of freedom (Wilson and
// Hilferty, rounded up); seeds are fixed, so this passes always or never.
double Limit(double degrees) { return degrees + 3.1 * std::sqrt(2 * degrees) + 6; }

TEST_CASE("draws below a bound are exactly uniform", "[common]") {
  const uint64_t bound = GENERATE(1, 2, 3, 5, 7, 10, 64, 100, 255, 1000);
  constexpr int kDraws = 200'000;
  std::vector<int64_t> counts(bound);
  for (int i = 0; i < kDraws / 4; ++i) {
    NodeDraws draws(99, static_cast<uint64_t>(i));  // few words from many nodes, as a sampler does
    for (int j = 0; j < 4; ++j) {
      const uint64_t value = draws.Below(bound);
      REQUIRE(value < bound);
      ++counts[value];
    }
  }
  const double expected = static_cast<double>(kDraws) / static_cast<double>(bound);
  double chi_square = 0;
  for (const int64_t count : counts) {
    chi_square += (static_cast<double>(count) - expected) *
                  (static_cast<double>(count) - expected) / expected;
  }
  CHECK(chi_square < Limit(static_cast<double>(bound - 1)));
}

// 3/4 of 2^32 and of 2^64: multiplying without rejection would give some thirds twice the share.
TEST_CASE("draws below large bounds favour nothing", "[common]") {
  const uint64_t bound = GENERATE(uint64_t{3} << 30, uint64_t{3} << 62, uint64_t{1} << 32,
                                  (uint64_t{1} << 32) + 1, UINT64_MAX);
  constexpr int kDraws = 60'000;
  int64_t thirds[3] = {};
  NodeDraws draws(5, 6);
  for (int i = 0; i < kDraws; ++i) {
    const uint64_t value = draws.Below(bound);
    REQUIRE(value < bound);
    ++thirds[static_cast<int>(static_cast<unsigned __int128>(value) * 3 / bound)];
  }
  for (const int64_t count : thirds) CHECK(std::llabs(count - kDraws / 3) < 500);
}

}  // namespace
}  // namespace vicinity
