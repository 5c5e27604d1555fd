#include "sampler/position_chooser.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "partition/sampling_spec.h"
#include "proto/common/random.h"

namespace vicinity {
namespace {

// Below this many draws a target, looking through those made so far beats any table.
constexpr uint64_t kScanLimit = 32;

// So that the unused end of a vector equals no position.
constexpr uint64_t kMaxFewDegree = uint64_t{1} << 31;

using Four = uint32_t __attribute__((vector_size(16)));

// The first 4 * kBlocks words of a stream. The blocks do not depend on each other, so the processor
// works on all of them at once.
template <int kBlocks>
void Words(uint64_t stream, uint64_t node_key, uint32_t* words) {
  std::array<r123::Philox4x32::ctr_type, kBlocks> blocks;
  for (uint32_t b = 0; b < kBlocks; ++b) {
    blocks[b] = {{static_cast<uint32_t>(node_key), static_cast<uint32_t>(node_key >> 32), b, 0}};
  }
  r123::Philox4x32::key_type key = {
      {static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)}};
  for (int round = 0; round < 10; ++round) {
    if (round > 0) key = _philox4x32bumpkey(key);
    for (int b = 0; b < kBlocks; ++b) blocks[b] = _philox4x32round(blocks[b], key);
  }
  for (int b = 0; b < kBlocks; ++b) std::copy_n(blocks[b].v, 4, words + 4 * b);
}

void Words(uint64_t stream, uint64_t key, uint64_t num_words, uint32_t* words) {
  if (num_words <= 4) return Words<1>(stream, key, words);
  if (num_words <= 8) return Words<2>(stream, key, words);
  if (num_words <= 12) return Words<3>(stream, key, words);
  Words<4>(stream, key, words);
}

template <int kVectors>
bool AnyTwoEqual(const uint32_t* values) {
  Four equal = {};
  std::array<Four, kVectors> v;
  __builtin_memcpy(v.data(), values, sizeof(v));
  for (int a = 0; a < kVectors; ++a) {
    const Four by1 = __builtin_shufflevector(v[a], v[a], 1, 2, 3, 0);
    const Four by2 = __builtin_shufflevector(v[a], v[a], 2, 3, 0, 1);
    const Four by3 = __builtin_shufflevector(v[a], v[a], 3, 0, 1, 2);
    equal |= static_cast<Four>((v[a] == by1) | (v[a] == by2));
    for (int b = a + 1; b < kVectors; ++b) {
      equal |= static_cast<Four>((v[b] == v[a]) | (v[b] == by1) | (v[b] == by2) | (v[b] == by3));
    }
  }
  return (equal[0] | equal[1] | equal[2] | equal[3]) != 0;
}

bool AnyTwoEqual(const uint32_t* values, uint64_t num_values) {
  if (num_values <= 4) return AnyTwoEqual<1>(values);
  if (num_values <= 8) return AnyTwoEqual<2>(values);
  if (num_values <= 12) return AnyTwoEqual<3>(values);
  return AnyTwoEqual<4>(values);
}

}  // namespace

PositionChooser::PositionChooser(int64_t fanout, bool replace, uint64_t stream)
    : all_(fanout == kAllNeighbors),
      replace_(replace),
      fanout_(static_cast<uint64_t>(fanout)),
      stream_(stream) {}

void PositionChooser::Choose(uint64_t begin, uint64_t degree, uint64_t key, int64_t* out) {
  if (all_ || (!replace_ && degree <= fanout_)) {
    for (uint64_t i = 0; i < degree; ++i) out[i] = static_cast<int64_t>(begin + i);
    return;
  }
  if (degree == 0) return;
  if (fanout_ <= kMaxFew && degree < kMaxFewDegree &&
      ChooseFew(begin, static_cast<uint32_t>(degree), key, out)) {
    return;
  }
  ChooseAny(begin, degree, key, out);
}

// False, with nothing but rubbish in `out`, for what is rare: a word that must be drawn again so
// that draws are exactly uniform, or a position drawn twice. Where Floyd's algorithm draws no
// position twice, its answer is what it draws.
bool PositionChooser::ChooseFew(uint64_t begin, uint32_t degree, uint64_t key, int64_t* out) const {
  alignas(16) uint32_t words[kMaxFew];
  Words(stream_, key, fanout_, words);
  const uint32_t first_bound = replace_ ? degree : degree - static_cast<uint32_t>(fanout_) + 1;
  const uint32_t step = replace_ ? 0 : 1;
  bool again = false;
  for (uint32_t i = 0; i < fanout_; ++i) {
    const uint32_t bound = first_bound + step * i;
    const uint64_t product = uint64_t{words[i]} * bound;
    again |= static_cast<uint32_t>(product) < bound;
    words[i] = static_cast<uint32_t>(product >> 32);
  }
  if (again) return false;
  if (!replace_) {
    for (uint32_t i = static_cast<uint32_t>(fanout_); i < kMaxFew; ++i) words[i] = ~i;
    if (AnyTwoEqual(words, fanout_)) return false;
  }
  for (uint64_t i = 0; i < fanout_; ++i) out[i] = static_cast<int64_t>(begin + words[i]);
  return true;
}

// Floyd (CACM 30(9), 1987): for j = d - k .. d - 1 take t, uniform over 0 .. j inclusive, or j
// itself if t was taken. Every k-subset is equally likely, with k draws.
void PositionChooser::ChooseAny(uint64_t begin, uint64_t degree, uint64_t key, int64_t* out) {
  NodeDraws draws(stream_, key);
  if (replace_) {
    for (uint64_t i = 0; i < fanout_; ++i) {
      out[i] = static_cast<int64_t>(begin + draws.Below(degree));
    }
    return;
  }
  const bool scan = fanout_ <= kScanLimit;
  if (!scan) taken_.clear();
  for (uint64_t i = 0; i < fanout_; ++i) {
    const uint64_t j = degree - fanout_ + i;
    int64_t position = static_cast<int64_t>(begin + draws.Below(j + 1));
    const bool taken =
        scan ? std::find(out, out + i, position) != out + i : taken_.contains(position);
    if (taken) position = static_cast<int64_t>(begin + j);
    if (!scan) taken_.insert(position);
    out[i] = position;
  }
}

}  // namespace vicinity
