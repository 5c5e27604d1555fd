#include "sampler/position_chooser.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "partition/schema/sampling_spec.h"
#include "proto/common/random.h"
#include "sampler/any_two_equal.h"
#include "sampler/draw_words.h"

namespace vicinity {
namespace {

// Below this many draws a target, looking through those made so far beats any table.
constexpr uint64_t kScanLimit = 32;

// So that the unused end of a vector equals no position.
constexpr uint64_t kMaxFewDegree = uint64_t{1} << 31;

}  // namespace

PositionChooser::PositionChooser(int64_t fanout, bool replace, uint64_t stream)
    : all_(fanout == kAllNeighbors),
      replace_(replace),
      fanout_(static_cast<uint64_t>(fanout)),
      stream_(stream) {}

void PositionChooser::Choose(uint64_t begin, uint64_t degree, uint64_t key, uint32_t tree,
                             int64_t* out) {
  if (all_ || (!replace_ && degree <= fanout_)) {
    for (uint64_t i = 0; i < degree; ++i) out[i] = static_cast<int64_t>(begin + i);
    return;
  }
  if (degree == 0) return;
  if (fanout_ <= kMaxFew && degree < kMaxFewDegree &&
      ChooseFew(begin, static_cast<uint32_t>(degree), key, tree, out)) {
    return;
  }
  ChooseAny(begin, degree, key, tree, out);
}

// False, with nothing but rubbish in `out`, for what is rare: a word that must be drawn again so
// that draws are exactly uniform, or a position drawn twice. Where Floyd's algorithm draws no
// position twice, its answer is what it draws.
bool PositionChooser::ChooseFew(uint64_t begin, uint32_t degree, uint64_t key, uint32_t tree,
                                int64_t* out) const {
  alignas(16) uint32_t words[kMaxFew];
  DrawWords(stream_, key, tree, 0, fanout_, words);
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
  if (!replace_ && AnyTwoEqual(words, fanout_)) return false;
  for (uint64_t i = 0; i < fanout_; ++i) out[i] = static_cast<int64_t>(begin + words[i]);
  return true;
}

// Floyd (CACM 30(9), 1987): for j = d - k .. d - 1 take t, uniform over 0 .. j inclusive, or j
// itself if t was taken. Every k-subset is equally likely, with k draws.
void PositionChooser::ChooseAny(uint64_t begin, uint64_t degree, uint64_t key, uint32_t tree,
                                int64_t* out) {
  NodeDraws draws(stream_, key, tree);
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
