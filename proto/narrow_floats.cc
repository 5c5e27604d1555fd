#include "proto/narrow_floats.h"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace vicinity {
namespace {

constexpr uint32_t kInfinity32 = 0x7f800000;

uint32_t BitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}
float FloatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// The upper bits of `value`, without its lowest `dropped` ones, of which it has at least one.
uint32_t RoundToEven(uint32_t value, uint32_t dropped) {
  const uint32_t odd = (value >> dropped) & 1;
  return (value + (uint32_t{1} << (dropped - 1)) - 1 + odd) >> dropped;
}

template <uint16_t (*Convert)(float)>
void NarrowAll(const char* floats, size_t count, char* halves) {
  for (size_t i = 0; i < count; ++i) {
    float value;
    std::memcpy(&value, floats + i * sizeof(value), sizeof(value));
    const uint16_t half = Convert(value);
    std::memcpy(halves + i * sizeof(half), &half, sizeof(half));
  }
}

template <float (*Convert)(uint16_t)>
void WidenAll(const char* halves, size_t count, char* floats) {
  for (size_t i = 0; i < count; ++i) {
    uint16_t half;
    std::memcpy(&half, halves + i * sizeof(half), sizeof(half));
    const float value = Convert(half);
    std::memcpy(floats + i * sizeof(value), &value, sizeof(value));
  }
}

// The processor's own conversions, eight values at a time, where it has them; they give the same
// values, but for the bits of a NaN. The rest, fewer than eight, is left: how many are done.
#if defined(__x86_64__)
bool HasFloat16() {
  static const bool has = __builtin_cpu_supports("avx2");  // all that have this convert, too
  return has;
}
__attribute__((target("avx,f16c"))) size_t NarrowEights(const char* floats, size_t count,
                                                        char* halves) {
  size_t done = 0;
  for (; HasFloat16() && done + 8 <= count; done += 8) {
    const __m256 values = _mm256_loadu_ps(reinterpret_cast<const float*>(floats) + done);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(halves + 2 * done),
                     _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT));
  }
  return done;
}
__attribute__((target("avx,f16c"))) size_t WidenEights(const char* halves, size_t count,
                                                       char* floats) {
  size_t done = 0;
  for (; HasFloat16() && done + 8 <= count; done += 8) {
    const __m128i eight = _mm_loadu_si128(reinterpret_cast<const __m128i*>(halves + 2 * done));
    _mm256_storeu_ps(reinterpret_cast<float*>(floats) + done, _mm256_cvtph_ps(eight));
  }
  return done;
}
#else
size_t NarrowEights(const char*, size_t, char*) { return 0; }
size_t WidenEights(const char*, size_t, char*) { return 0; }
#endif

}  // namespace

uint16_t ToBfloat16(float value) {
  const uint32_t bits = BitsOf(value);
  const bool is_nan = (bits & ~(uint32_t{1} << 31)) > kInfinity32;
  // A NaN whose upper bits are all 0 would become an infinity: so it is made a quiet one.
  return static_cast<uint16_t>(is_nan ? (bits >> 16) | 0x40 : RoundToEven(bits, 16));
}

float FromBfloat16(uint16_t bits) { return FloatOf(uint32_t{bits} << 16); }

uint16_t ToFloat16(float value) {
  const uint32_t bits = BitsOf(value);
  const uint32_t sign = (bits >> 16) & 0x8000;
  const uint32_t size = bits & ~(uint32_t{1} << 31);
  if (size > kInfinity32) return static_cast<uint16_t>(sign | 0x7e00 | ((size >> 13) & 0x3ff));
  constexpr uint32_t kSmallestNormal = uint32_t{127 - 14} << 23;
  if (size >= kSmallestNormal) {
    // The exponent moves to its new bias; a carry out of the fraction raises it as it should, and
    // 65520, half way between the largest value and the next there would be, goes to infinity.
    const uint32_t rounded = RoundToEven(size - (uint32_t{127 - 15} << 23), 13);
    return static_cast<uint16_t>(sign | (rounded < 0x7c00 ? rounded : 0x7c00));
  }
  // Multiples of 2^-24: added to 2^-24 x 2^23, whose own lowest bit is worth that, the sum is
  // rounded as it has to be.
  constexpr uint32_t kUnit = uint32_t{127 - 24 + 23} << 23;
  return static_cast<uint16_t>(sign | (BitsOf(FloatOf(size) + FloatOf(kUnit)) - kUnit));
}

float FromFloat16(uint16_t bits) {
  const uint32_t sign = uint32_t{bits} >> 15 << 31;
  const uint32_t size = bits & 0x7fff;
  if (size >= 0x7c00) return FloatOf(sign | kInfinity32 | (size & 0x3ff) << 13);
  // As if of float32, with its exponent too small by 127 - 15: a multiplication mends that, for
  // denormal values too.
  return FloatOf(BitsOf(FloatOf(size << 13) * FloatOf(uint32_t{127 + 127 - 15} << 23)) | sign);
}

void NarrowFloats(proto::Precision precision, const char* floats, size_t count, char* halves) {
  if (precision == proto::PRECISION_BFLOAT16) return NarrowAll<ToBfloat16>(floats, count, halves);
  const size_t done = NarrowEights(floats, count, halves);
  NarrowAll<ToFloat16>(floats + 4 * done, count - done, halves + 2 * done);
}

void WidenFloats(proto::Precision precision, const char* halves, size_t count, char* floats) {
  if (precision == proto::PRECISION_BFLOAT16) return WidenAll<FromBfloat16>(halves, count, floats);
  const size_t done = WidenEights(halves, count, floats);
  WidenAll<FromFloat16>(halves + 2 * done, count - done, floats + 4 * done);
}

}  // namespace vicinity
