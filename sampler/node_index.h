// From a node's id to its position in the list of a minibatch's unique nodes.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vicinity {

// An open-addressing table sized by the batch. A slot is eight bytes: the low half of the id
// and the position; only types of 2^32 nodes or more look at the list itself to be sure.
//
// Threads: one at a time. Memory: 16 to 32 bytes a node of the larger of the last batches.
// Cost:    one cache miss a lookup, which Prefetch can hide.
class NodeIndex {
 public:
  // `wide`: ids may be 2^32 or more.
  explicit NodeIndex(bool wide = false) : wide_(wide) { Resize(kMinSlots); }

  // Forgets all nodes. Gives half of the memory back when the last batch, of `num_nodes`, needed
  // far less.
  void Clear(size_t num_nodes);

  // The position of `id`, which becomes ids->size(), and is appended, when it is new. `ids` is
  // always the same list, filled by this call alone; it must stay below 2^31 nodes.
  int32_t FindOrAdd(int64_t id, std::vector<int64_t>* ids) {
    if (2 * (ids->size() + 1) > slots_.size()) Grow(*ids);
    const uint64_t tag = static_cast<uint64_t>(id) << 32;
    for (size_t slot = Home(id);; slot = (slot + 1) & mask_) {
      const uint64_t entry = slots_[slot];
      if (entry == kEmpty) {
        slots_[slot] = tag | ids->size() + 1;
        ids->push_back(id);
        return static_cast<int32_t>(ids->size() - 1);
      }
      if ((entry ^ tag) >> 32 != 0) continue;
      const size_t position = static_cast<uint32_t>(entry) - 1;
      if (!wide_ || (*ids)[position] == id) return static_cast<int32_t>(position);
    }
  }

  void Prefetch(int64_t id) const { __builtin_prefetch(&slots_[Home(id)], 1); }

  size_t num_slots() const { return slots_.size(); }

 private:
  static constexpr size_t kMinSlots = 64;
  static constexpr uint64_t kEmpty = 0;  // positions are stored plus one

  // Fibonacci hashing: the high bits of the product depend on all bits of the id.
  size_t Home(int64_t id) const {
    return (static_cast<uint64_t>(id) * 0x9e3779b97f4a7c15u) >> shift_;
  }
  void Resize(size_t num_slots);
  void Grow(const std::vector<int64_t>& ids);

  bool wide_;
  std::vector<uint64_t> slots_;
  size_t mask_ = 0;
  int shift_ = 0;
};

}  // namespace vicinity
