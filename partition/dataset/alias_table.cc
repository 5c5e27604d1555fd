#include "partition/dataset/alias_table.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace vicinity {
namespace {

constexpr uint64_t kFull = uint64_t{1} << 32;

}  // namespace

void AliasUnits(absl::Span<const AliasEntry> table, std::vector<uint64_t>* units) {
  units->assign(table.size(), 0);
  if (table.empty() || HasNoWeight(table.data())) return;
  const AliasEntry* const entries = table.data();
  const size_t size = table.size();
  uint64_t* const sums = units->data();
  for (size_t i = 0; i < size; ++i) {
    const uint64_t other = entries[i].other & AliasEntry::kOtherMask;
    const uint64_t own = other == i ? kFull : entries[i].share;
    sums[i] += own;
    // What the file says is believed only where it can be.
    if (other < size) sums[other] += kFull - own;
  }
}

// The sum is compensated (Neumaier), so that what is left over is at most about one unit a weight,
// and the largest weight, which is no less than the mean of 2^32 units, can bear it.
void AliasBuilder::Divide(absl::Span<const double> weights, size_t largest) {
  double sum = 0;
  double lost = 0;
  for (const double weight : weights) {
    const double share = weight / weights[largest];
    const double next = sum + share;
    lost += sum >= share ? (sum - next) + share : (share - next) + sum;
    sum = next;
  }
  const uint64_t all = static_cast<uint64_t>(weights.size()) * kFull;
  const double scale = static_cast<double>(all) / (sum + lost);
  uint64_t given = 0;
  units_.resize(weights.size());
  for (size_t i = 0; i < weights.size(); ++i) {
    const auto rounded = static_cast<uint64_t>(weights[i] / weights[largest] * scale + 0.5);
    units_[i] = weights[i] > 0 ? std::max<uint64_t>(rounded, 1) : 0;
    given += units_[i];
  }
  units_[largest] += all - given;  // modulo 2^64, so either way
}

void AliasBuilder::Fill(absl::Span<const double> weights, absl::Span<AliasEntry> table) {
  if (weights.empty()) return;
  const size_t largest = std::max_element(weights.begin(), weights.end()) - weights.begin();
  if (!(weights[largest] > 0)) {
    for (uint32_t i = 0; i < table.size(); ++i) table[i] = {0, AliasEntry::kZeroWeight | i};
    return;
  }
  Divide(weights, largest);
  light_.clear();
  heavy_.clear();
  for (uint32_t i = 0; i < units_.size(); ++i) (units_[i] < kFull ? light_ : heavy_).push_back(i);
  for (size_t next = 0; next < light_.size(); ++next) {
    const uint32_t i = light_[next];
    const uint32_t from = heavy_.back();  // there is one: the units left are 2^32 a position left
    const bool none = !(weights[i] > 0);
    table[i] = {static_cast<uint32_t>(units_[i]), from | (none ? AliasEntry::kZeroWeight : 0)};
    units_[from] -= kFull - units_[i];
    if (units_[from] >= kFull) continue;
    heavy_.pop_back();
    light_.push_back(from);
  }
  for (const uint32_t i : heavy_) table[i] = {UINT32_MAX, i};
}

}  // namespace vicinity
