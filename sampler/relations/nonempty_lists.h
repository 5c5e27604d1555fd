// Which lists of a shard are not empty, a bit for each: where many edge types end in a node type,
// most nodes have edges along a few of them only, and the others' lists need not be looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partition/dataset/shard.h"
#include "proto/common/ids.h"

namespace vicinity {

// Of a shard's nodes of one type, along some edge types that end there; as in the files.
//
// Threads: any number may read.
// Memory:  a bit for each node and edge type, whose number is rounded up to a power of 2, or beyond
//          64 to a multiple of 64: no more than a 32nd of the offsets that it is found from.
class NonemptyLists {
 public:
  // Reads the offsets of all these types once, in order, each of which must end in `target_type`.
  // Cancelled soon after `stops` says so. Errors as ShardReader's; DataLoss for edge types that
  // have lists of another number of nodes than there are.
  static absl::StatusOr<NonemptyLists> Find(const Shard& shard, NodeTypeId target_type,
                                            absl::Span<const EdgeTypeId> edge_types,
                                            const std::function<bool()>& stops);
  static int64_t BytesFor(int64_t num_nodes, int64_t num_edge_types);

  // Appends to (*found)[k], of the k-th edge type, the index of each of `rows` whose list is not
  // empty. `rows`: below num_nodes().
  void Split(absl::Span<const uint64_t> rows, std::vector<std::vector<uint32_t>>* found) const;

  int64_t num_nodes() const { return num_nodes_; }
  int64_t num_edge_types() const { return num_edge_types_; }
  int64_t num_nonempty() const { return num_nonempty_; }
  int64_t num_bytes() const { return static_cast<int64_t>(words_.size() * sizeof(uint64_t)); }

 private:
  static constexpr int64_t kWordBits = 64;

  NonemptyLists(int64_t num_nodes, int64_t num_edge_types);
  // Bits that a node has.
  static int64_t WidthFor(int64_t num_edge_types);
  void Set(int64_t row, int64_t edge_type) {
    const int64_t bit = row * width_ + edge_type;
    words_[bit / kWordBits] |= uint64_t{1} << (bit % kWordBits);
    ++num_nonempty_;
    ++nonempty_of_type_[edge_type];
  }

  int64_t num_nodes_;
  int64_t num_edge_types_;
  int64_t width_;
  int64_t num_nonempty_ = 0;
  std::vector<int64_t> nonempty_of_type_;
  std::vector<uint64_t> words_;  // bit row x width_ + k
};

}  // namespace vicinity
