#include "sampler/layer_chooser.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "sampler/rules/few_smallest.h"

namespace vicinity {
namespace {

// So many edges are compared without looking first which of them have small numbers.
constexpr size_t kMostAtOnce = 32;

// Writes the positions of the `most` smallest keys, in order; of equal ones the first are smaller.
// `sorted` is memory.
void ChooseAny(absl::Span<const uint64_t> keys, uint64_t most, std::vector<uint64_t>* sorted,
               int64_t* out) {
  sorted->assign(keys.begin(), keys.end());
  const auto last = sorted->begin() + static_cast<int64_t>(most) - 1;
  std::nth_element(sorted->begin(), last, sorted->end());
  const uint64_t limit = *last;
  // nth_element leaves none behind `last` that is smaller.
  auto left = static_cast<uint64_t>(std::count(sorted->begin(), last + 1, limit));
  uint64_t count = 0;
  for (size_t i = 0; count < most; ++i) {
    if (keys[i] > limit || (keys[i] == limit && left == 0)) continue;
    if (keys[i] == limit) --left;
    out[count++] = static_cast<int64_t>(i);
  }
}

// Counts the edges of a list that follow each other and have the same source.
template <typename Source>
class Parallels {
 public:
  explicit Parallels(absl::Span<const Source> sources) : sources_(sources) {}
  // Of the next edge, which is the i-th: how many of its source are just before it.
  uint64_t Next(size_t i) {
    const bool again = i > 0 && sources_[i] == sources_[i - 1];
    return count_ = again ? count_ + 1 : 0;
  }

 private:
  const absl::Span<const Source> sources_;
  uint64_t count_ = 0;
};

}  // namespace

LayerChooser::LayerChooser(int64_t fanout, uint64_t stream)
    : fanout_(static_cast<uint64_t>(fanout)), numbers_(stream) {}

template <typename Source>
void LayerChooser::CollectBelow(absl::Span<const Source> sources, uint64_t limit) {
  constexpr size_t kBlock = 1024;  // memory is asked for by so many, and so stays that of the few
  NumberFilter<Source> filter(numbers_, sources, limit);
  size_t count = 0;
  for (size_t first = 0; first < sources.size(); first += kBlock) {
    const size_t end = std::min(first + kBlock, sources.size());
    const size_t room = count + (end - first) + NumberFilter<Source>::kSlack;
    if (keys_.size() < room) keys_.resize(room);
    if (places_.size() < room) places_.resize(room);
    count += filter.Take(end, keys_.data() + count, places_.data() + count);
  }
  num_candidates_ = count;
}

// There are at least fanout_ of them.
uint64_t LayerChooser::ChooseCandidates(int64_t* out) {
  const absl::Span<const uint64_t> keys(keys_.data(), num_candidates_);
  if (keys.size() > MostFew() || !FewSmallest(keys, fanout_, out)) {
    ChooseAny(keys, fanout_, &sorted_, out);
  }
  for (uint64_t i = 0; i < fanout_; ++i) out[i] = places_[out[i]];
  return fanout_;
}

template <typename Source>
uint64_t LayerChooser::Choose(absl::Span<const Source> sources, int64_t* out) {
  const size_t degree = sources.size();
  if (degree <= fanout_) {
    std::iota(out, out + degree, 0);
    return degree;
  }
  if (degree <= kMostAtOnce) {
    CollectBelow(sources, UINT64_MAX);
    return ChooseCandidates(out);
  }
  // About as many numbers are below a limit as it is large, so few edges need to be compared. One
  // limit in some 200 is too low: the others leave hardly more edges than can be compared at once.
  const double mean = static_cast<double>(fanout_);
  double expected = mean + 2.5 * std::sqrt(mean) + 2;
  for (;;) {
    const bool all = expected >= static_cast<double>(degree);
    const uint64_t limit = all ? UINT64_MAX : UINT64_MAX / degree * static_cast<uint64_t>(expected);
    CollectBelow(sources, limit);
    if (all || num_candidates_ >= fanout_) return ChooseCandidates(out);
    expected *= 4;
  }
}

template <typename Source>
uint64_t LayerChooser::Choose(absl::Span<const Source> sources, absl::Span<const uint64_t> units,
                              int64_t* out) {
  if (keys_.size() < sources.size()) keys_.resize(sources.size());
  if (places_.size() < sources.size()) places_.resize(sources.size());
  Parallels<Source> parallels(sources);
  num_candidates_ = 0;
  for (size_t i = 0; i < sources.size(); ++i) {
    const uint64_t number = numbers_.Of(static_cast<uint64_t>(sources[i]), parallels.Next(i));
    if (units[i] == 0) continue;
    // Both are exact, or rounded alike everywhere; positive doubles have the order of their bits.
    const double key = static_cast<double>(static_cast<int64_t>((number >> 11) + 1)) /
                       static_cast<double>(static_cast<int64_t>(units[i]));
    std::memcpy(&keys_[num_candidates_], &key, sizeof(key));
    places_[num_candidates_++] = static_cast<int64_t>(i);
  }
  if (num_candidates_ > fanout_) return ChooseCandidates(out);
  std::copy_n(places_.begin(), num_candidates_, out);
  return num_candidates_;
}

template uint64_t LayerChooser::Choose(absl::Span<const uint32_t>, int64_t*);
template uint64_t LayerChooser::Choose(absl::Span<const uint64_t>, int64_t*);
template uint64_t LayerChooser::Choose(absl::Span<const int64_t>, int64_t*);
template uint64_t LayerChooser::Choose(absl::Span<const uint32_t>, absl::Span<const uint64_t>,
                                       int64_t*);
template uint64_t LayerChooser::Choose(absl::Span<const uint64_t>, absl::Span<const uint64_t>,
                                       int64_t*);
template uint64_t LayerChooser::Choose(absl::Span<const int64_t>, absl::Span<const uint64_t>,
                                       int64_t*);

}  // namespace vicinity
