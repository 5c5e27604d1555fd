#include "proto/narrow_floats.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace vicinity {
namespace {

float Float(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

TEST_CASE("float16 has the values of IEEE binary16", "[narrow_floats]") {
  struct Pair {
    float value;
    uint16_t bits;
  };
  const std::vector<Pair> exact = {
      {0.0F, 0x0000},        {-0.0F, 0x8000},       {1.0F, 0x3c00},     {-2.0F, 0xc000},
      {65504.0F, 0x7bff},    {0x1p-14F, 0x0400},    {0x1p-24F, 0x0001}, {0x1.ff8p-15F, 0x03ff},
      {1.0F / 0.0F, 0x7c00}, {-1.0F / 0.0F, 0xfc00}};
  for (const Pair& pair : exact) {
    CAPTURE(pair.value);
    CHECK(ToFloat16(pair.value) == pair.bits);
    CHECK(FromFloat16(pair.bits) == pair.value);
    CHECK(std::signbit(FromFloat16(pair.bits)) == std::signbit(pair.value));
  }
  const std::vector<Pair> rounded = {
      {1.0F + 0x1p-11F, 0x3c00},      // half way, to the even one below
      {1.0F + 3 * 0x1p-11F, 0x3c02},  // half way, to the even one above
      {Float(0x3f801001), 0x3c01},    // a little more than half way
      {65519.996F, 0x7bff},           // just below half way to infinity
      {65520.0F, 0x7c00},
      {1e30F, 0x7c00},
      {-1e30F, 0xfc00},
      {0x1p-25F, 0x0000},  // half of the smallest, to the even 0
      {0x1.000002p-25F, 0x0001},
      {0x1.8p-24F, 0x0002},
      {0x1.ffep-15F, 0x0400},  // up to the smallest normal value
      {0x1p-126F, 0x0000},
      {-0x1p-149F, 0x8000}};
  for (const Pair& pair : rounded) {
    CAPTURE(pair.value);
    CHECK(ToFloat16(pair.value) == pair.bits);
  }
}

TEST_CASE("bfloat16 is the upper half of a float32, rounded", "[narrow_floats]") {
  CHECK(ToBfloat16(1.0F) == 0x3f80);
  CHECK(ToBfloat16(-0.0F) == 0x8000);
  CHECK(ToBfloat16(Float(0x3f808000)) == 0x3f80);  // half way, to the even one below
  CHECK(ToBfloat16(Float(0x3f818000)) == 0x3f82);  // half way, to the even one above
  CHECK(ToBfloat16(Float(0x3f808001)) == 0x3f81);
  CHECK(ToBfloat16(Float(0x3f807fff)) == 0x3f80);
  CHECK(ToBfloat16(std::numeric_limits<float>::max()) == 0x7f80);
  CHECK(ToBfloat16(Float(0x00008000)) == 0x0000);  // denormal, half way
  CHECK(ToBfloat16(Float(0x00018000)) == 0x0002);
  CHECK(ToBfloat16(-std::numeric_limits<float>::infinity()) == 0xff80);
  CHECK(FromBfloat16(0x4049) == 3.140625F);
}

TEST_CASE("every half comes back as it was, and NaN stays NaN", "[narrow_floats]") {
  int wrong = 0;
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    if (std::isnan(FromFloat16(half))) {
      wrong += !std::isnan(FromFloat16(ToFloat16(FromFloat16(half))));
    } else {
      wrong += ToFloat16(FromFloat16(half)) != half;
    }
    if (std::isnan(FromBfloat16(half))) {
      wrong += !std::isnan(FromBfloat16(ToBfloat16(FromBfloat16(half))));
    } else {
      wrong += ToBfloat16(FromBfloat16(half)) != half;
    }
  }
  CHECK(wrong == 0);
  for (const uint32_t nan : {0x7f800001U, 0xff800001U, 0x7fc00000U, 0x7fffffffU}) {
    CHECK(std::isnan(FromFloat16(ToFloat16(Float(nan)))));
    CHECK(std::isnan(FromBfloat16(ToBfloat16(Float(nan)))));
    CHECK(std::signbit(FromFloat16(ToFloat16(Float(nan)))) == (nan >> 31 == 1));
  }
}

TEST_CASE("no other half is nearer than the one that was chosen", "[narrow_floats]") {
  int wrong = 0;
  for (uint64_t bits = 0; bits < 0x7f800000; bits += 40009) {  // a prime: all kinds of lower bits
    const float value = Float(static_cast<uint32_t>(bits));
    const uint16_t half = ToFloat16(value);
    const double error = std::abs(double{FromFloat16(half)} - value);
    if (half < 0x7c00) {
      const double above = half == 0x7bff ? 65536.0 : double{FromFloat16(half + 1)};
      wrong += above - value < error;
      wrong += half > 0 && value - double{FromFloat16(half - 1)} < error;
    } else {
      wrong += value < 65520.0F;
    }
    const uint16_t upper = ToBfloat16(value);
    const double upper_error = std::abs(double{FromBfloat16(upper)} - value);
    if (upper >= 0x7f7f) continue;
    wrong += double{FromBfloat16(upper + 1)} - value < upper_error;
    wrong += upper > 0 && value - double{FromBfloat16(upper - 1)} < upper_error;
  }
  CHECK(wrong == 0);
}

TEST_CASE("many values are narrowed and widened as one is, wherever they lie", "[narrow_floats]") {
  const proto::Precision precision = GENERATE(proto::PRECISION_FLOAT16, proto::PRECISION_BFLOAT16);
  std::vector<float> values;
  for (int i = 0; i < 99; ++i) values.push_back(static_cast<float>(i) * 1.001F - 50);
  for (const uint32_t bits : {0x7f800000U, 0xff800000U, 0x00000001U, 0x477fefffU, 0x477ff000U,
                              0x33000000U, 0x33000001U, 0x387fefffU, 0x80000000U}) {
    values.push_back(Float(bits));
  }
  for (int64_t i = 0; i < 100'000; ++i) {
    const float value = Float(static_cast<uint32_t>(i * 42949));
    if (!std::isnan(value)) values.push_back(value);
  }
  std::string floats(1 + values.size() * 4, '-');
  std::memcpy(&floats[1], values.data(), values.size() * 4);
  std::string halves(1 + values.size() * 2, '-');
  NarrowFloats(precision, &floats[1], values.size(), &halves[1]);
  std::string back(floats.size(), '-');
  WidenFloats(precision, &halves[1], values.size(), &back[1]);
  int wrong = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    float value;
    std::memcpy(&value, &back[1 + 4 * i], 4);
    wrong +=
        !(value == (precision == proto::PRECISION_FLOAT16 ? FromFloat16(ToFloat16(values[i]))
                                                          : FromBfloat16(ToBfloat16(values[i]))));
  }
  CHECK(wrong == 0);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> nans(8, nan);
  std::vector<char> narrowed(16);
  std::vector<float> widened(8);
  NarrowFloats(precision, reinterpret_cast<const char*>(nans.data()), 8, narrowed.data());
  WidenFloats(precision, narrowed.data(), 8, reinterpret_cast<char*>(widened.data()));
  for (const float value : widened) CHECK(std::isnan(value));
}

}  // namespace
}  // namespace vicinity
