#include "sampler/rules/matching_edges.h"

#include <algorithm>
#include <cstddef>

#include "absl/status/status.h"
#include "proto/common/status.h"
#include "sampler/rules/condition_filter.h"

namespace vicinity {
namespace {

// Some milliseconds' work.
constexpr int64_t kEdgesAtOnce = int64_t{1} << 20;

// The place of the k-th one of a word that has more than k.
int64_t SelectInWord(uint64_t word, int64_t k) {
  for (; k > 0; --k) word &= word - 1;
  return __builtin_ctzll(word);
}

}  // namespace

MatchingEdges::MatchingEdges(absl::Span<const uint8_t> meets) {
  Append(meets);
  CountOnes();
}

int64_t MatchingEdges::BytesFor(int64_t num_edges) {
  return (num_edges / kBlockBits + 1) * static_cast<int64_t>(sizeof(Block));
}

absl::StatusOr<MatchingEdges> MatchingEdges::Find(const Shard& shard, EdgeTypeId edge_type,
                                                  const RowCondition& condition,
                                                  const std::function<bool()>& stops) {
  const ShardReader reader(shard);
  const int64_t num_edges = reader.num_edges(edge_type);
  ConditionFilter filter(condition);
  std::vector<std::vector<char>> values(filter.columns().size());
  MatchingEdges matching;
  matching.blocks_.reserve(num_edges / kBlockBits + 1);
  for (int64_t first = 0; first < num_edges; first += kEdgesAtOnce) {
    if (stops()) return absl::CancelledError("looking for the edges that meet a condition");
    const int64_t count = std::min(kEdgesAtOnce, num_edges - first);
    std::vector<const char*> at;
    for (size_t k = 0; k < values.size(); ++k) {
      const ShardColumn column = reader.EdgeColumn(edge_type, filter.columns()[k]);
      values[k].resize(count * column.row_bytes());
      VICINITY_RETURN_IF_ERROR(reader.ReadRange(column, first, count, [&](const char* rows) {
        std::copy_n(rows, values[k].size(), values[k].data());
      }));
      at.push_back(values[k].data());
    }
    matching.Append(filter.Evaluate(at, count));
  }
  matching.CountOnes();
  return matching;
}

void MatchingEdges::Append(absl::Span<const uint8_t> meets) {
  const int64_t end = num_edges_ + static_cast<int64_t>(meets.size());
  blocks_.resize(end / kBlockBits + 1);
  for (const uint8_t one : meets) {
    Block& block = blocks_[num_edges_ / kBlockBits];
    const int64_t bit = num_edges_ % kBlockBits;
    block.words[bit / kWordBits] |= uint64_t{one} << (bit % kWordBits);
    ++num_edges_;
  }
}

void MatchingEdges::CountOnes() {
  if (blocks_.empty()) blocks_.resize(1);
  uint64_t before = 0;
  for (Block& block : blocks_) {
    block.before = before;
    uint64_t within = 0;
    for (int64_t word = 0; word < kWords; ++word) {
      if (word > 0) block.within |= within << (kCountBits * (word - 1));
      within += __builtin_popcountll(block.words[word]);
    }
    before += within;
  }
}

int64_t MatchingEdges::Select(const Some& some, int64_t i) const {
  const auto rank = static_cast<uint64_t>(some.before + i);
  // The last block that has no more before it; nearly always the first or the second.
  const auto first = blocks_.begin() + some.begin / kBlockBits;
  const auto end = blocks_.begin() + (some.end - 1) / kBlockBits + 1;
  const auto found = std::upper_bound(
      first, end, rank, [](uint64_t value, const Block& block) { return value < block.before; });
  const Block& block = *(found - 1);
  const auto in_block = static_cast<int64_t>(rank - block.before);
  int64_t word = 0;
  while (word + 1 < kWords && block.BeforeWord(word + 1) <= in_block) ++word;
  return ((found - 1) - blocks_.begin()) * kBlockBits + word * kWordBits +
         SelectInWord(block.words[word], in_block - block.BeforeWord(word));
}

}  // namespace vicinity
