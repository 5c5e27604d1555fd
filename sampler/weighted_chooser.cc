#include "sampler/weighted_chooser.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "partition/dataset/alias_table.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/prefetch.h"
#include "proto/common/random.h"
#include "sampler/any_two_equal.h"
#include "sampler/draw_words.h"

namespace vicinity {
namespace {

// Below this many draws a target, looking through those made so far beats any table.
constexpr uint64_t kScanLimit = 32;

// Attempts without replacement, for a fanout. Beyond, a list is gone through as a whole.
constexpr uint64_t MostAttempts(uint64_t fanout) { return 2 * fanout + 16; }

// Where the stream of draws after failed attempts begins: no attempts go so far.
constexpr uint32_t kRestBlock = uint32_t{1} << 31;

// Column `word` falls in; `degree`: none, so that columns are exactly equally likely (Lemire 2019).
uint64_t ColumnOf(uint32_t word, uint32_t degree) {
  const uint64_t product = uint64_t{word} * degree;
  if (static_cast<uint32_t>(product) < degree &&
      static_cast<uint32_t>(product) < (0u - degree) % degree) {
    return degree;
  }
  return product >> 32;
}

// Sums over a list of weights that changes: entry i holds the sum of the units of positions
// (i - lowbit(i), i], counted from 1 (Fenwick, SP&E 24(3), 1994).
class UnitSums {
 public:
  explicit UnitSums(std::vector<uint64_t>* units) : sums_(*units) {
    for (size_t i = 1; i <= sums_.size(); ++i) {
      const size_t above = i + (i & -i);
      if (above <= sums_.size()) sums_[above - 1] += sums_[i - 1];
    }
    while (2 * top_ <= sums_.size()) top_ *= 2;
  }

  // The position whose units contain number `unit`, counted over all positions.
  size_t Find(uint64_t unit) const {
    size_t before = 0;
    for (size_t step = top_; step > 0; step /= 2) {
      if (before + step > sums_.size() || sums_[before + step - 1] > unit) continue;
      before += step;
      unit -= sums_[before - 1];
    }
    return before;
  }

  // Takes a position's units out: how many they were.
  uint64_t Remove(size_t position) {
    uint64_t units = sums_[position];
    for (size_t i = position; i > (position & (position + 1)); i &= i - 1) units -= sums_[i - 1];
    for (size_t i = position + 1; i <= sums_.size(); i += i & -i) sums_[i - 1] -= units;
    return units;
  }

 private:
  std::vector<uint64_t>& sums_;
  size_t top_ = 1;  // the largest power of 2 that is no more than their number
};

}  // namespace

// The attempts of one target, in order: those prepared, then more.
class WeightedChooser::AttemptStream {
 public:
  AttemptStream(const WeightedChooser& chooser, const WeightedList& list, const Attempts& attempts)
      : list_(list),
        prepared_(attempts.words.data()),
        prepared_end_(prepared_ + 2 * chooser.num_prepared_),
        more_(chooser.stream_, list.key, list.tree, chooser.num_prepared_ / 2) {}

  // A position inside the list; `degree`: the attempt is passed over.
  uint64_t Next() {
    uint32_t words[2];
    if (prepared_ != prepared_end_) {
      words[0] = *prepared_++;
      words[1] = *prepared_++;
    } else {
      words[0] = more_.Next32();
      words[1] = more_.Next32();
    }
    const uint64_t column = ColumnOf(words[0], static_cast<uint32_t>(list_.degree));
    if (column == list_.degree) return column;
    const AliasEntry entry = list_.table[column];
    const uint64_t other = entry.other & AliasEntry::kOtherMask;
    // A damaged table must not lead outside the list.
    return words[1] < entry.share ? column : std::min(other, list_.degree - 1);
  }

 private:
  const WeightedList& list_;
  const uint32_t* prepared_;
  const uint32_t* const prepared_end_;
  NodeDraws more_;
};

// An even number of attempts, so that the stream goes on at the beginning of a block.
WeightedChooser::WeightedChooser(int64_t fanout, bool replace, uint64_t stream)
    : all_(fanout == kAllNeighbors),
      replace_(replace),
      fanout_(static_cast<uint64_t>(fanout)),
      stream_(stream),
      num_prepared_(
          static_cast<uint32_t>(std::min<uint64_t>((fanout_ + 1) / 2 * 2, Attempts::kMost))) {}

void WeightedChooser::Prepare(const WeightedList& list, Attempts* attempts) const {
  constexpr uint64_t kEntriesALine = 8;
  if (list.degree == 0) return;
  PrefetchFarAhead(list.table);
  if (all_ || (!replace_ && list.degree <= fanout_)) {
    const uint64_t end = std::min(list.degree, kEntriesALine * 8);
    for (uint64_t i = kEntriesALine; i < end; i += kEntriesALine) {
      PrefetchFarAhead(list.table + i);
    }
    return;
  }
  DrawWords(stream_, list.key, list.tree, 0, 2 * num_prepared_, attempts->words.data());
  for (uint32_t a = 0; a < num_prepared_; ++a) {
    PrefetchFarAhead(list.table + (uint64_t{attempts->words[2 * a]} * list.degree >> 32));
  }
}

uint64_t WeightedChooser::Choose(const WeightedList& list, const Attempts& attempts, int64_t* out) {
  if (all_ || (!replace_ && list.degree <= fanout_)) {
    uint64_t taken = 0;
    for (uint64_t i = 0; i < list.degree; ++i) {
      if (list.table[i].has_weight()) out[taken++] = static_cast<int64_t>(list.begin + i);
    }
    return taken;
  }
  if (list.degree == 0 || HasNoWeight(list.table)) return 0;
  if (fanout_ <= kMaxFew && ChooseFew(list, attempts, out)) return fanout_;
  return replace_ ? ChooseReplace(list, attempts, out) : ChooseDistinct(list, attempts, out);
}

// Which of a column's two positions it is to be is anybody's guess, so no branch depends on it.
bool WeightedChooser::ChooseFew(const WeightedList& list, const Attempts& attempts,
                                int64_t* out) const {
  const auto degree = static_cast<uint32_t>(list.degree);
  alignas(16) uint32_t drawn[kMaxFew];
  bool again = false;
  for (uint64_t i = 0; i < fanout_; ++i) {
    const uint64_t product = uint64_t{attempts.words[2 * i]} * degree;
    again |= static_cast<uint32_t>(product) < degree;
    const auto column = static_cast<uint32_t>(product >> 32);
    const AliasEntry entry = list.table[column];
    const uint32_t other = std::min(entry.other & AliasEntry::kOtherMask, degree - 1);
    const uint32_t own = 0u - static_cast<uint32_t>(attempts.words[2 * i + 1] < entry.share);
    drawn[i] = (column & own) | (other & ~own);
  }
  if (again || (!replace_ && AnyTwoEqual(drawn, fanout_))) return false;
  for (uint64_t i = 0; i < fanout_; ++i) out[i] = static_cast<int64_t>(list.begin + drawn[i]);
  return true;
}

uint64_t WeightedChooser::ChooseReplace(const WeightedList& list, const Attempts& attempts,
                                        int64_t* out) const {
  AttemptStream stream(*this, list, attempts);
  for (uint64_t taken = 0; taken < fanout_;) {
    const uint64_t position = stream.Next();
    if (position != list.degree) out[taken++] = static_cast<int64_t>(list.begin + position);
  }
  return fanout_;
}

uint64_t WeightedChooser::ChooseDistinct(const WeightedList& list, const Attempts& attempts,
                                         int64_t* out) {
  AttemptStream stream(*this, list, attempts);
  const bool scan = fanout_ <= kScanLimit;
  if (!scan) taken_.clear();
  uint64_t taken = 0;
  for (uint64_t tries = MostAttempts(fanout_); tries > 0 && taken < fanout_; --tries) {
    const uint64_t drawn = stream.Next();
    if (drawn == list.degree) continue;
    const auto position = static_cast<int64_t>(list.begin + drawn);
    const bool is_new = scan ? std::find(out, out + taken, position) == out + taken
                             : taken_.insert(position).second;
    if (is_new) out[taken++] = position;
  }
  return taken == fanout_ ? taken : ChooseRest(list, taken, out);
}

uint64_t WeightedChooser::ChooseRest(const WeightedList& list, uint64_t taken, int64_t* out) {
  AliasUnits(absl::MakeConstSpan(list.table, list.degree), &units_);
  for (uint64_t i = 0; i < taken; ++i) units_[static_cast<uint64_t>(out[i]) - list.begin] = 0;
  uint64_t left = 0;
  for (const uint64_t units : units_) left += units;
  UnitSums sums(&units_);
  NodeDraws draws(stream_, list.key, list.tree, kRestBlock);
  while (taken < fanout_ && left > 0) {
    const size_t position = sums.Find(draws.Below(left));
    left -= sums.Remove(position);
    out[taken++] = static_cast<int64_t>(list.begin + position);
  }
  return taken;
}

UnitsChooser::UnitsChooser(int64_t fanout, bool replace, uint64_t stream)
    : fanout_(fanout), replace_(replace), stream_(stream), by_table_(fanout, replace, stream) {}

// Draw by draw, each among what is left by then: a table would cost more than it saves.
void UnitsChooser::ChooseFew(absl::Span<const uint64_t> units, uint64_t key, uint32_t tree,
                             std::vector<int64_t>* chosen) const {
  std::array<uint64_t, kMostFew> left;
  uint64_t sum = 0;
  int64_t num_possible = 0;
  chosen->resize(units.size());
  int64_t* out = chosen->data();
  for (size_t i = 0; i < units.size(); ++i) {
    left[i] = units[i];
    sum += units[i];
    out[num_possible] = static_cast<int64_t>(i);
    num_possible += units[i] > 0 ? 1 : 0;
  }
  const bool all = fanout_ == kAllNeighbors;
  if (num_possible == 0 || all || (!replace_ && num_possible <= fanout_)) {
    chosen->resize(num_possible);
    return;
  }
  chosen->resize(fanout_);
  out = chosen->data();
  NodeDraws draws(stream_, key, tree);
  for (int64_t drawn = 0; drawn < fanout_; ++drawn) {
    uint64_t at = draws.Below(sum);
    int64_t i = 0;
    for (; at >= left[i]; ++i) at -= left[i];
    out[drawn] = i;
    if (replace_) continue;
    sum -= left[i];
    left[i] = 0;
  }
}

void UnitsChooser::Choose(absl::Span<const uint64_t> units, uint64_t key, uint32_t tree,
                          std::vector<int64_t>* chosen) {
  if (units.size() <= kMostFew) return ChooseFew(units, key, tree, chosen);
  weights_.clear();
  for (const uint64_t unit : units) weights_.push_back(static_cast<double>(unit));
  table_.resize(weights_.size());
  tables_.Fill(weights_, absl::MakeSpan(table_));
  const WeightedList list = {table_.data(), 0, table_.size(), key, tree};
  chosen->resize(by_table_.MostFor(list.degree));
  WeightedChooser::Attempts attempts;
  by_table_.Prepare(list, &attempts);
  chosen->resize(by_table_.Choose(list, attempts, chosen->data()));
}

}  // namespace vicinity
