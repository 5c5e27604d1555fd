// How likely a row is to be needed, coarsely and in little memory: which part of a ranking its node
// is in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace vicinity {

// A ranking cut into equal parts, class 0 the likeliest; one more class for the nodes that are not
// in it. Rows of one class count as equally likely.
//
// Threads: immutable; any number may read. Memory: 11 to 21 bytes a ranked node.
// Cost:    one cache miss a lookup, which Prefetch can hide.
class LikelihoodClasses {
 public:
  static constexpr int kNumClasses = 1024;  // a RowKey has 10 bits for them
  static constexpr uint16_t kUnranked = kNumClasses - 1;

  // `ranked`: likeliest first, none repeated.
  explicit LikelihoodClasses(absl::Span<const int64_t> ranked);

  // Of a node that is not ranked, with a chance of one in millions another class than kUnranked:
  // hashes are compared, not ids.
  uint16_t ClassOf(int64_t id) const {
    const uint64_t hash = HashOf(id);
    for (size_t i = hash >> shift_;; i = (i + 1) & mask_) {
      const uint64_t entry = entries_[i];
      if (entry == kEmpty) return kUnranked;
      if (entry >> 16 == hash >> 16) return static_cast<uint16_t>(entry - 1);
    }
  }

  void Prefetch(int64_t id) const { __builtin_prefetch(&entries_[HashOf(id) >> shift_]); }

 private:
  static constexpr uint64_t kEmpty = 0;  // classes are stored plus one

  static uint64_t HashOf(int64_t id) { return static_cast<uint64_t>(id) * 0x9e3779b97f4a7c15u; }

  std::vector<uint64_t> entries_;  // 48 bits of hash, 16 of class
  size_t mask_;
  int shift_;
};

}  // namespace vicinity
