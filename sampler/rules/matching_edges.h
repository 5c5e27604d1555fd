// The edges of a shard that meet a condition, a bit for each: who draws among them need not go
// through lists.
//
// Laid out as rank9 (Vigna, "Broadword Implementation of Rank/Select Queries", WEA 2008), with the
// counts in the line that has their bits, so a list costs the one or two lines of memory that its
// bits lie in, however many edges meet the condition.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partition/dataset/shard_reader.h"
#include "partition/schema/condition.h"
#include "proto/common/ids.h"

namespace vicinity {

// Threads: immutable; any number may read. Memory: a sixth of a byte an edge.
class MatchingEdges {
 public:
  // meets[i]: 1 if edge i does, else 0.
  explicit MatchingEdges(absl::Span<const uint8_t> meets);

  // Of an edge type's edges, as they are in the shard's files: one pass over the condition's
  // columns. Cancelled once `stops` says so, which it is asked every few milliseconds; else
  // ShardReader's errors.
  static absl::StatusOr<MatchingEdges> Find(const Shard& shard, EdgeTypeId edge_type,
                                            const RowCondition& condition,
                                            const std::function<bool()>& stops);
  static int64_t BytesFor(int64_t num_edges);

  int64_t num_bytes() const { return static_cast<int64_t>(blocks_.size() * sizeof(Block)); }

  // Those among edges [begin, end), which must be there.
  struct Some {
    int64_t begin = 0;
    int64_t end = 0;
    int64_t before = 0;  // that meet the condition and lie before them
    int64_t count = 0;
  };
  Some Among(int64_t begin, int64_t end) const {
    const int64_t before = CountBefore(begin);
    return {begin, end, before, begin < end ? CountBefore(end) - before : 0};
  }
  // Which edge the i-th of some is, i below their count.
  int64_t Select(const Some& some, int64_t i) const;

  // Asks memory for the bits of a list that begins here.
  void Prefetch(int64_t begin) const { __builtin_prefetch(&blocks_[begin / kBlockBits]); }

 private:
  static constexpr int64_t kWords = 6;
  static constexpr int64_t kWordBits = 64;
  static constexpr int64_t kBlockBits = kWords * kWordBits;
  static constexpr int kCountBits = 9;  // for what kBlockBits can be
  struct alignas(64) Block {
    uint64_t before = 0;  // ones in all blocks before
    uint64_t within = 0;  // of word w > 0, at bit 9 (w - 1), ones in the block's words before
    std::array<uint64_t, kWords> words{};

    int64_t BeforeWord(int64_t word) const {
      if (word == 0) return 0;
      return static_cast<int64_t>(within >> (kCountBits * (word - 1)) & ((1 << kCountBits) - 1));
    }
  };

  MatchingEdges() = default;
  // The next ones.
  void Append(absl::Span<const uint8_t> meets);
  void CountOnes();

  int64_t CountBefore(int64_t position) const {
    const Block& block = blocks_[position / kBlockBits];
    const int64_t bit = position % kBlockBits;
    const int64_t word = bit / kWordBits;
    const uint64_t mask = (uint64_t{1} << (bit % kWordBits)) - 1;
    return static_cast<int64_t>(block.before) + block.BeforeWord(word) +
           __builtin_popcountll(block.words[word] & mask);
  }

  int64_t num_edges_ = 0;
  std::vector<Block> blocks_;  // one more than full ones, so that every end has its own
};

}  // namespace vicinity
