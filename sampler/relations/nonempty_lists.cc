#include "sampler/relations/nonempty_lists.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "partition/dataset/shard_reader.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// A fraction of a millisecond's work.
constexpr int64_t kRowsAtOnce = int64_t{1} << 16;

// How many rows ahead memory is asked for their bits.
constexpr size_t kRowsAhead = 16;

}  // namespace

int64_t NonemptyLists::WidthFor(int64_t num_edge_types) {
  if (num_edge_types > kWordBits) {
    return (num_edge_types + kWordBits - 1) / kWordBits * kWordBits;
  }
  int64_t width = 1;
  while (width < num_edge_types) width *= 2;
  return width;
}

int64_t NonemptyLists::BytesFor(int64_t num_nodes, int64_t num_edge_types) {
  const int64_t bits = num_nodes * WidthFor(num_edge_types);
  return (bits + kWordBits - 1) / kWordBits * static_cast<int64_t>(sizeof(uint64_t));
}

NonemptyLists::NonemptyLists(int64_t num_nodes, int64_t num_edge_types)
    : num_nodes_(num_nodes),
      num_edge_types_(num_edge_types),
      width_(WidthFor(num_edge_types)),
      nonempty_of_type_(num_edge_types),
      words_(BytesFor(num_nodes, num_edge_types) / sizeof(uint64_t)) {}

absl::StatusOr<NonemptyLists> NonemptyLists::Find(const Shard& shard, NodeTypeId target_type,
                                                  absl::Span<const EdgeTypeId> edge_types,
                                                  const std::function<bool()>& stops) {
  const ShardReader reader(shard);
  const int64_t num_nodes = reader.num_nodes(target_type);
  NonemptyLists lists(num_nodes, static_cast<int64_t>(edge_types.size()));
  std::vector<uint64_t> rows(std::min(kRowsAtOnce, num_nodes));
  std::vector<int64_t> degrees(rows.size());
  for (size_t k = 0; k < edge_types.size(); ++k) {
    if (reader.num_targets(edge_types[k]) != num_nodes) {
      return absl::DataLossError(absl::StrCat("edge type ", edge_types[k].value, " has lists of ",
                                              reader.num_targets(edge_types[k]), " nodes of ",
                                              num_nodes));
    }
    for (int64_t first = 0; first < num_nodes; first += kRowsAtOnce) {
      if (stops()) return absl::CancelledError("looking for lists that are not empty");
      rows.resize(std::min(kRowsAtOnce, num_nodes - first));
      std::iota(rows.begin(), rows.end(), static_cast<uint64_t>(first));
      VICINITY_RETURN_IF_ERROR(reader.ReadDegrees(
          edge_types[k], rows, [] {},
          [&](size_t i, int64_t degree) {
            degrees[i] = degree;
            return true;
          }));
      for (size_t i = 0; i < rows.size(); ++i) {
        if (degrees[i] > 0) lists.Set(first + static_cast<int64_t>(i), static_cast<int64_t>(k));
      }
    }
  }
  return lists;
}

void NonemptyLists::Split(absl::Span<const uint64_t> rows,
                          std::vector<std::vector<uint32_t>>* found) const {
  if (rows.empty()) return;
  for (int64_t k = 0; k < num_edge_types_; ++k) {  // as many as of all nodes, and half as many more
    const double share =
        static_cast<double>(nonempty_of_type_[k]) / static_cast<double>(num_nodes_);
    (*found)[k].reserve((*found)[k].size() +
                        static_cast<size_t>(1.5 * share * static_cast<double>(rows.size())) + 16);
  }
  const auto width = static_cast<uint64_t>(width_);
  const uint64_t of_node = width < kWordBits ? (uint64_t{1} << width) - 1 : ~uint64_t{0};
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i + kRowsAhead < rows.size()) {
      __builtin_prefetch(&words_[rows[i + kRowsAhead] * width / kWordBits]);
    }
    const uint64_t first_bit = rows[i] * width;
    for (uint64_t bit = 0; bit < width; bit += kWordBits) {
      uint64_t word = words_[(first_bit + bit) / kWordBits] >> (first_bit % kWordBits) & of_node;
      for (; word != 0; word &= word - 1) {
        (*found)[bit + __builtin_ctzll(word)].push_back(static_cast<uint32_t>(i));
      }
    }
  }
}

}  // namespace vicinity
