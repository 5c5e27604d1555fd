#include "sampler/rules/source_numbers.h"

#include <array>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace vicinity {
namespace {

#if defined(__x86_64__)

bool HasEights() {
  static const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512vl");
  return has;
}

#define VICINITY_EIGHTS __attribute__((target("avx512f,avx512dq,avx512vl")))

// Those of eight sources that the mask has, the others 0 and not read.
VICINITY_EIGHTS inline __m512i LoadEight(const uint32_t* sources, __mmask8 mask) {
  return _mm512_cvtepu32_epi64(_mm256_maskz_loadu_epi32(mask, sources));
}
VICINITY_EIGHTS inline __m512i LoadEight(const uint64_t* sources, __mmask8 mask) {
  return _mm512_maskz_loadu_epi64(mask, sources);
}
VICINITY_EIGHTS inline __m512i LoadEight(const int64_t* sources, __mmask8 mask) {
  return _mm512_maskz_loadu_epi64(mask, sources);
}

VICINITY_EIGHTS inline __m512i Times(__m512i x, uint64_t factor) {
  return _mm512_mullo_epi64(x, _mm512_set1_epi64(static_cast<int64_t>(factor)));
}

// SourceNumbers::Of; `parallel` is already times kGolden.
VICINITY_EIGHTS inline __m512i NumbersOfEight(const SourceNumbers& numbers, __m512i sources,
                                              __m512i parallel) {
  const __m512i a = _mm512_set1_epi64(static_cast<int64_t>(numbers.first()));
  const __m512i b = _mm512_set1_epi64(static_cast<int64_t>(numbers.second()));
  __m512i x = _mm512_xor_si512(sources, a);
  x = Times(_mm512_xor_si512(x, _mm512_srli_epi64(x, 32)), SourceNumbers::kFirstFactor);
  x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 32));
  x = _mm512_add_epi64(x, _mm512_add_epi64(b, parallel));
  x = Times(x, SourceNumbers::kSecondFactor);
  x = Times(_mm512_xor_si512(x, _mm512_srli_epi64(x, 29)), SourceNumbers::kThirdFactor);
  return _mm512_xor_si512(x, _mm512_srli_epi64(x, 32));
}

// Entry m, byte i: how many bits of m are set without a gap up to bit i, downwards from it.
constexpr std::array<uint64_t, 256> MakeRuns() {
  std::array<uint64_t, 256> runs{};
  for (uint32_t m = 0; m < 256; ++m) {
    uint64_t run = 0;
    for (uint32_t i = 0; i < 8; ++i) {
      run = (m >> i & 1) != 0 ? run + 1 : 0;
      runs[m] |= run << 8 * i;
    }
  }
  return runs;
}
constexpr std::array<uint64_t, 256> kRuns = MakeRuns();

// Positions among parallel edges, times kGolden, of eight edges, of which `again` have the source
// of the one before. `last`: the position of the edge before them, and then of the last of them.
VICINITY_EIGHTS inline __m512i ParallelsOfEight(__mmask8 again, uint64_t* last) {
  if (again == 0) {
    *last = 0;
    return _mm512_setzero_si512();
  }
  const uint64_t runs = kRuns[again];
  const auto from_before = static_cast<__mmask8>(again & ~(again + 1u));  // the lowest ones
  __m512i parallel = _mm512_cvtepu8_epi64(_mm_cvtsi64_si128(static_cast<int64_t>(runs)));
  parallel = _mm512_mask_add_epi64(parallel, from_before, parallel,
                                   _mm512_set1_epi64(static_cast<int64_t>(*last)));
  *last = (runs >> 56) + (from_before == 0xff ? *last : 0);
  return Times(parallel, SourceNumbers::kGolden);
}

// Where edges of a list go that are kept.
struct Kept {
  uint64_t* keys;
  int64_t* places;
  size_t count = 0;
};

// NumberFilter of edges [at, at + count), count being at most eight.
template <typename Source>
VICINITY_EIGHTS inline void KeepEight(const SourceNumbers& numbers, const Source* sources,
                                      size_t at, size_t count, uint64_t limit, uint64_t* last,
                                      Kept* kept) {
  const auto some = static_cast<__mmask8>((1u << count) - 1);
  const auto with_one_before = static_cast<__mmask8>(at == 0 ? some & ~1u : some);
  const __m512i these = LoadEight(sources + at, some);
  const __m512i before = LoadEight(sources + at - 1, with_one_before);
  const __mmask8 again = _mm512_mask_cmpeq_epi64_mask(with_one_before, these, before);
  const __m512i found = NumbersOfEight(numbers, these, ParallelsOfEight(again, last));
  const __m512i most = _mm512_set1_epi64(static_cast<int64_t>(limit));
  const __mmask8 small = _mm512_mask_cmple_epu64_mask(some, found, most);
  const __m512i place = _mm512_add_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0),
                                         _mm512_set1_epi64(static_cast<int64_t>(at)));
  _mm512_storeu_si512(kept->keys + kept->count, _mm512_maskz_compress_epi64(small, found));
  _mm512_storeu_si512(kept->places + kept->count, _mm512_maskz_compress_epi64(small, place));
  kept->count += static_cast<size_t>(__builtin_popcount(small));
}

// ... of edges [next, end), of which the last ones may be fewer than eight: how many are kept.
template <typename Source>
VICINITY_EIGHTS size_t KeepAll(const SourceNumbers& of, const Source* sources, size_t next,
                               size_t end, uint64_t limit, uint64_t* last, Kept kept) {
  const SourceNumbers numbers = of;  // by value: what is written to cannot change it
  uint64_t parallel = *last;
  for (; next + 8 <= end; next += 8) {
    KeepEight(numbers, sources, next, 8, limit, &parallel, &kept);
  }
  if (next < end) KeepEight(numbers, sources, next, end - next, limit, &parallel, &kept);
  *last = parallel;
  return kept.count;
}

#undef VICINITY_EIGHTS

#endif

}  // namespace

template <typename Source>
size_t NumberFilter<Source>::Take(size_t end, uint64_t* keys, int64_t* places) {
#if defined(__x86_64__)
  if (HasEights()) return TakeEights(end, keys, places);
#endif
  return TakePlainly(end, keys, places);
}

template <typename Source>
size_t NumberFilter<Source>::TakePlainly(size_t end, uint64_t* keys, int64_t* places) {
  size_t count = 0;
  for (; next_ < end; ++next_) {
    const bool again = next_ > 0 && sources_[next_] == sources_[next_ - 1];
    parallel_ = again ? parallel_ + 1 : 0;
    const uint64_t key = numbers_.Of(static_cast<uint64_t>(sources_[next_]), parallel_);
    keys[count] = key;
    places[count] = static_cast<int64_t>(next_);
    count += key <= limit_ ? 1 : 0;
  }
  return count;
}

// Behind fewer than eight edges it is not known which position among parallel ones the last has, so
// these must be the list's last.
template <typename Source>
size_t NumberFilter<Source>::TakeEights(size_t end, uint64_t* keys, int64_t* places) {
#if defined(__x86_64__)
  const size_t whole = end == sources_.size() ? end : end - (end - next_) % 8;
  const size_t count =
      KeepAll(numbers_, sources_.data(), next_, whole, limit_, &parallel_, Kept{keys, places});
  next_ = whole;
  return count + TakePlainly(end, keys + count, places + count);
#else
  return TakePlainly(end, keys, places);
#endif
}

template class NumberFilter<uint32_t>;
template class NumberFilter<uint64_t>;
template class NumberFilter<int64_t>;

}  // namespace vicinity
