// From a node's id to its position in the list of a minibatch's unique nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "sampler/huge_allocator.h"

namespace vicinity {

// An open-addressing table sized by the batch. A slot is eight bytes: the low half of the id
// and the position; only types of 2^32 nodes or more look at the list itself to be sure.
//
// Threads: one at a time. Memory: 16 to 32 bytes a node of the larger of the last batches.
// Cost:    one cache miss a lookup, hidden behind those before it.
class NodeIndex {
 public:
  // `wide`: ids may be 2^32 or more.
  explicit NodeIndex(bool wide = false) : wide_(wide) { Resize(kMinSlots); }

  // Forgets all nodes. Gives half of the memory back when the last batch, of `num_nodes`, needed
  // far less.
  void Clear(size_t num_nodes);

  // Writes the positions of `ids` in `known` to `positions`, one for each; ids that are not in it
  // are appended as they come. `known` is always the same list, filled by this call alone; it must
  // stay below 2^31 nodes.
  void FindOrAdd(absl::Span<const int64_t> ids, std::vector<int64_t>* known, int32_t* positions);

  // Writes the positions of `ids` in `known`, as FindOrAdd has filled it; -1: it is not in it.
  void Find(absl::Span<const int64_t> ids, const std::vector<int64_t>& known,
            int32_t* positions) const;

  size_t num_slots() const { return slots_.size(); }

 private:
  static constexpr size_t kMinSlots = 64;
  static constexpr uint64_t kEmpty = 0;  // positions are stored plus one

  // Fibonacci hashing: the high bits of the product depend on all bits of the id.
  size_t Home(int64_t id) const {
    return (static_cast<uint64_t>(id) * 0x9e3779b97f4a7c15u) >> shift_;
  }
  template <bool kWide>
  void FindOrAddSome(absl::Span<const int64_t> ids, std::vector<int64_t>* known,
                     int32_t* positions);
  void Resize(size_t num_slots);
  void Grow(size_t num_slots, const std::vector<int64_t>& known);

  bool wide_;
  std::vector<uint64_t, HugeAllocator<uint64_t>> slots_;
  size_t mask_ = 0;
  int shift_ = 0;
};

}  // namespace vicinity
