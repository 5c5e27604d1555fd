#include "cache/pool/likelihood_classes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace vicinity {
namespace {

constexpr size_t kMinEntries = 64;

// Classes cost memory that planning runs over, so there are few where there are few nodes.
constexpr uint64_t kFewClasses = 256;
constexpr uint64_t kNodesAClass = 32;

}  // namespace

LikelihoodClasses::LikelihoodClasses(absl::Span<const int64_t> ranked) {
  size_t num_entries = kMinEntries;
  while (3 * num_entries < 4 * ranked.size()) num_entries *= 2;
  entries_.assign(num_entries, kEmpty);
  mask_ = num_entries - 1;
  shift_ = 64 - __builtin_ctzll(num_entries);
  const uint64_t num_classes =
      std::min<uint64_t>(kUnranked, std::max(kFewClasses, ranked.size() / kNodesAClass));
  for (size_t rank = 0; rank < ranked.size(); ++rank) {
    const uint64_t hash = HashOf(ranked[rank]);
    const uint64_t likelihood = rank * num_classes / ranked.size();
    size_t i = hash >> shift_;
    while (entries_[i] != kEmpty) i = (i + 1) & mask_;
    entries_[i] = (hash >> 16 << 16) | (likelihood + 1);
  }
}

}  // namespace vicinity
