#include "partition/dataset/find_id.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace vicinity {
namespace {

// Some ids are compared before it is asked whether one was equal: compilers make vector
// instructions of that.
template <int kCompared, typename Id>
int64_t FindInGroups(const Id* ids, int64_t count, Id wanted) {
  int64_t i = 0;
  for (; i + kCompared <= count; i += kCompared) {
    Id any = 0;
    for (int64_t j = i; j < i + kCompared; ++j) any |= ids[j] == wanted ? 1 : 0;
    if (any != 0) break;
  }
  while (i < count && ids[i] != wanted) ++i;
  return i;
}

#if defined(__x86_64__)

// Lists as long as that are worth asking what the processor can do.
constexpr int64_t kLong = 128;

bool HasAvx2() {
  static const bool has = __builtin_cpu_supports("avx2");
  return has;
}

__attribute__((target("avx2"))) int64_t FindInLong(const uint32_t* ids, int64_t count,
                                                   uint32_t wanted) {
  const __m256i eight = _mm256_set1_epi32(static_cast<int32_t>(wanted));
  int64_t i = 0;
  for (; i + 32 <= count; i += 32) {
    const auto* const at = reinterpret_cast<const __m256i*>(ids + i);
    const __m256i first = _mm256_cmpeq_epi32(_mm256_loadu_si256(at), eight);
    const __m256i second = _mm256_cmpeq_epi32(_mm256_loadu_si256(at + 1), eight);
    const __m256i third = _mm256_cmpeq_epi32(_mm256_loadu_si256(at + 2), eight);
    const __m256i fourth = _mm256_cmpeq_epi32(_mm256_loadu_si256(at + 3), eight);
    const __m256i any =
        _mm256_or_si256(_mm256_or_si256(first, second), _mm256_or_si256(third, fourth));
    if (_mm256_testz_si256(any, any) == 0) break;
  }
  while (i < count && ids[i] != wanted) ++i;
  return i;
}

// The places among 16 ids, as bits, of those that are `wanted`.
uint32_t Among16(const uint32_t* ids, __m128i wanted) {
  const auto* const at = reinterpret_cast<const __m128i*>(ids);
  const __m128i first = _mm_cmpeq_epi32(_mm_loadu_si128(at), wanted);
  const __m128i second = _mm_cmpeq_epi32(_mm_loadu_si128(at + 1), wanted);
  const __m128i third = _mm_cmpeq_epi32(_mm_loadu_si128(at + 2), wanted);
  const __m128i fourth = _mm_cmpeq_epi32(_mm_loadu_si128(at + 3), wanted);
  return static_cast<uint32_t>(_mm_movemask_epi8(
      _mm_packs_epi16(_mm_packs_epi32(first, second), _mm_packs_epi32(third, fourth))));
}
uint32_t Among4(const uint32_t* ids, __m128i wanted) {
  const __m128i four = _mm_loadu_si128(reinterpret_cast<const __m128i*>(ids));
  return static_cast<uint32_t>(_mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(four, wanted))));
}

// The last group of some overlaps those before: what is in both has been seen not to be `wanted`.
int64_t FindInShort(const uint32_t* ids, int64_t count, uint32_t wanted) {
  const __m128i all = _mm_set1_epi32(static_cast<int32_t>(wanted));
  int64_t i = 0;
  for (; i + 16 <= count; i += 16) {
    if (const uint32_t found = Among16(ids + i, all); found != 0) return i + __builtin_ctz(found);
  }
  if (i == count) return count;
  if (count >= 16) {
    const uint32_t found = Among16(ids + count - 16, all);
    return found == 0 ? count : count - 16 + __builtin_ctz(found);
  }
  for (; i + 4 <= count; i += 4) {
    if (const uint32_t found = Among4(ids + i, all); found != 0) return i + __builtin_ctz(found);
  }
  if (i == count) return count;
  if (count >= 4) {
    const uint32_t found = Among4(ids + count - 4, all);
    return found == 0 ? count : count - 4 + __builtin_ctz(found);
  }
  while (i < count && ids[i] != wanted) ++i;
  return i;
}

#endif

}  // namespace

int64_t FindId(const uint32_t* ids, int64_t count, uint32_t wanted) {
#if defined(__x86_64__)
  if (count >= kLong && HasAvx2()) return FindInLong(ids, count, wanted);
  return FindInShort(ids, count, wanted);
#else
  return FindInGroups<64>(ids, count, wanted);
#endif
}

int64_t FindId(const uint64_t* ids, int64_t count, uint64_t wanted) {
  return FindInGroups<32>(ids, count, wanted);
}

}  // namespace vicinity
