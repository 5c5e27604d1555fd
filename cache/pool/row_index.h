// Which rows a planner knows, by node: where each is held and where it was asked for last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vicinity {

// A node and its class of likelihood in one word, so that whoever carries the one has the other.
class RowKey {
 public:
  static constexpr int kClassBits = 10;
  static constexpr int64_t kMaxId = (int64_t{1} << (64 - kClassBits - 1)) - 1;

  RowKey() = default;
  RowKey(int64_t id, uint16_t likelihood)
      : word_(static_cast<uint64_t>(id) << kClassBits | likelihood) {}

  int64_t id() const { return static_cast<int64_t>(word_ >> kClassBits); }
  uint16_t likelihood() const { return word_ & ((1 << kClassBits) - 1); }
  bool is_none() const { return word_ == kNone; }
  friend bool operator==(RowKey a, RowKey b) { return a.word_ == b.word_; }

 private:
  static constexpr uint64_t kNone = ~uint64_t{0};  // no node: ids stay below half of it
  uint64_t word_ = kNone;
};

struct RowEntry {
  RowKey key;
  int32_t slot = -1;      // where the row is; -1: not held
  uint32_t last_use = 0;  // position in a UseRing; meaningless once that is gone
};

// An open-addressing table of 16 bytes an entry. Removals move entries, so a pointer to one is good
// until the next Add or Remove.
//
// Threads: one at a time. Memory: 27 to 53 bytes an entry, of the most there ever were.
// Cost:    one cache miss a lookup, which Prefetch can hide.
class RowIndex {
 public:
  static constexpr int64_t kMaxRows = int64_t{1} << 30;

  RowIndex() { Resize(kMinEntries); }

  // Room for `num_more` entries without a rehash.
  void Reserve(size_t num_more);

  // Null: no such row.
  RowEntry* Find(int64_t id) {
    for (size_t i = Home(id);; i = (i + 1) & mask_) {
      RowEntry& entry = entries_[i];
      if (entry.key.id() == id) return &entry;
      if (entry.key.is_none()) return nullptr;
    }
  }

  // The entry of a node that has none; room was Reserved.
  RowEntry* Add(RowKey key);
  // Gives up an entry that Find or Add returned.
  void Remove(RowEntry* entry);

  void Prefetch(int64_t id) const { __builtin_prefetch(&entries_[Home(id)], 1); }
  // The entry that is probably the node's: a hint of what to prefetch next.
  const RowEntry& Peek(int64_t id) const { return entries_[Home(id)]; }

  int64_t size() const { return static_cast<int64_t>(size_); }

 private:
  static constexpr size_t kMinEntries = 64;

  // Fibonacci hashing: the high bits of the product depend on all bits of the id.
  size_t Home(int64_t id) const {
    return (static_cast<uint64_t>(id) * 0x9e3779b97f4a7c15u) >> shift_;
  }
  void Resize(size_t num_entries);

  std::vector<RowEntry> entries_;
  size_t size_ = 0;
  size_t mask_ = 0;
  int shift_ = 0;
};

}  // namespace vicinity
