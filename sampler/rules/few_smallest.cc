#include "sampler/rules/few_smallest.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace vicinity {
namespace {

constexpr size_t kMostPlain = 32;

using Four = int32_t __attribute__((vector_size(16)));

// ranks[i]: how many of `count` values are below values[i]; both are 4 x kVectors long.
template <int kVectors>
void Rank(const int32_t* values, size_t count, int32_t* ranks) {
  std::array<Four, kVectors> v;
  std::array<Four, kVectors> r{};
  std::memcpy(v.data(), values, sizeof(v));
  for (size_t i = 0; i < count; ++i) {
    const Four value = {values[i], values[i], values[i], values[i]};
    for (int k = 0; k < kVectors; ++k) r[k] -= static_cast<Four>(value < v[k]);  // true is -1
  }
  std::memcpy(ranks, r.data(), sizeof(r));
}

void Rank(const int32_t* values, size_t count, int32_t* ranks) {
  switch ((count + 3) / 4) {
    case 1:
      return Rank<1>(values, count, ranks);
    case 2:
      return Rank<2>(values, count, ranks);
    case 3:
      return Rank<3>(values, count, ranks);
    case 4:
      return Rank<4>(values, count, ranks);
    case 5:
      return Rank<5>(values, count, ranks);
    case 6:
      return Rank<6>(values, count, ranks);
    case 7:
      return Rank<7>(values, count, ranks);
    default:
      return Rank<8>(values, count, ranks);
  }
}

#if defined(__x86_64__)

constexpr size_t kMostWide = 64;

bool HasWide() {
  static const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
  return has;
}

// As FewSmallest, of at most 16 x kVectors.
template <int kVectors>
__attribute__((target("avx512f,avx512dq"))) bool FewSmallestWide(absl::Span<const uint64_t> keys,
                                                                 uint64_t most, int64_t* out) {
  alignas(64) std::array<uint32_t, 16 * kVectors> values{};
  for (size_t i = 0; i < keys.size(); i += 8) {
    const size_t left = keys.size() - i;
    const auto some = static_cast<__mmask8>(left < 8 ? (1u << left) - 1 : 0xffu);
    const __m512i eight = _mm512_maskz_loadu_epi64(some, keys.data() + i);
    _mm256_store_si256(reinterpret_cast<__m256i*>(values.data() + i),
                       _mm512_cvtepi64_epi32(_mm512_srli_epi64(eight, 32)));
  }
  std::array<__m512i, kVectors> v;
  std::array<__m512i, kVectors> ranks;
  for (int k = 0; k < kVectors; ++k) {
    v[k] = _mm512_load_si512(values.data() + 16 * k);
    ranks[k] = _mm512_setzero_si512();
  }
  const __m512i one = _mm512_set1_epi32(1);
  for (size_t i = 0; i < keys.size(); ++i) {
    const __m512i value = _mm512_set1_epi32(static_cast<int32_t>(values[i]));
    for (int k = 0; k < kVectors; ++k) {
      const __mmask16 below = _mm512_cmplt_epu32_mask(value, v[k]);
      ranks[k] = _mm512_mask_add_epi32(ranks[k], below, ranks[k], one);
    }
  }
  const __m512i limit = _mm512_set1_epi32(static_cast<int32_t>(most));
  uint64_t chosen = 0;
  for (int k = 0; k < kVectors; ++k) {
    chosen |= uint64_t{_mm512_cmplt_epu32_mask(ranks[k], limit)} << 16 * k;
  }
  if (keys.size() < 64) chosen &= (uint64_t{1} << keys.size()) - 1;
  if (static_cast<uint64_t>(__builtin_popcountll(chosen)) != most) return false;
  for (; chosen != 0; chosen &= chosen - 1) *out++ = __builtin_ctzll(chosen);
  return true;
}

#endif

}  // namespace

size_t MostFew() {
#if defined(__x86_64__)
  if (HasWide()) return kMostWide;
#endif
  return kMostPlain;
}

bool FewSmallest(absl::Span<const uint64_t> keys, uint64_t most, int64_t* out) {
#if defined(__x86_64__)
  if (HasWide()) {
    if (keys.size() <= 16) return FewSmallestWide<1>(keys, most, out);
    if (keys.size() <= 32) return FewSmallestWide<2>(keys, most, out);
    if (keys.size() <= 48) return FewSmallestWide<3>(keys, most, out);
    return FewSmallestWide<4>(keys, most, out);
  }
#endif
  return FewSmallestPlainly(keys, most, out);
}

bool FewSmallestPlainly(absl::Span<const uint64_t> keys, uint64_t most, int64_t* out) {
  alignas(16) std::array<int32_t, kMostPlain> values;
  alignas(16) std::array<int32_t, kMostPlain> ranks;
  for (size_t i = 0; i < keys.size(); ++i) {  // in the order of signed numbers
    values[i] = static_cast<int32_t>(static_cast<uint32_t>(keys[i] >> 32) ^ 0x80000000u);
  }
  for (size_t i = keys.size(); i % 4 != 0; ++i) values[i] = std::numeric_limits<int32_t>::max();
  Rank(values.data(), keys.size(), ranks.data());
  std::array<int64_t, kMostPlain + 1> chosen;  // equal values may make them too many
  size_t count = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    chosen[count] = static_cast<int64_t>(i);
    count += static_cast<uint64_t>(ranks[i]) < most ? 1 : 0;
  }
  if (count != most) return false;
  std::copy_n(chosen.data(), count, out);
  return true;
}

}  // namespace vicinity
