// The rows of a pool that nobody is known to need, least likely first: where victims come from
// before any row that an announced batch asks for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cache/pool/likelihood_classes.h"
#include "cache/pool/row_index.h"
#include "cache/pool/use_ring.h"

namespace vicinity {

// A queue for each class of likelihood; within a class the row that went cold first leaves first,
// so that without a ranking the order is least recently used.
//
// A row is cold while it is held and its last use is not in the ring. Rows that are used again are
// not searched for: they stay behind in their queue until it is cleaned, and are told from the
// others by their last use. Positions come back after 2^32 uses, so Restamp has to be called well
// before.
//
// Threads:  one at a time. Lifetime: `index` and `ring` must outlive it.
// Memory:   a megabyte or two, and 16 to 64 bytes for each row that is cold.
// Cost:     constant a row, over time.
class ColdRows {
 public:
  ColdRows(RowIndex* index, const UseRing* ring)
      : index_(index), ring_(ring), queues_(LikelihoodClasses::kNumClasses) {}

  // The row's uses will be gone from the ring; this was its last, as its entry says.
  void Add(RowKey key, uint32_t last_use) {
    Queue& queue = queues_[key.likelihood()];
    queue.rows.push_back({key.id(), last_use});
    if (queue.num_cold++ == 0) Mark(key.likelihood());
    ++size_;
  }

  // A cold row has got a use again, which its entry tells already.
  void Remove(RowKey key) { Lose(key.likelihood()); }

  // Adds the ids of the `num_rows` least likely rows to `ids`; of all if there are fewer. They are
  // not cold from now on: the caller takes them out of the index.
  void TakeWorst(int64_t num_rows, std::vector<int64_t>* ids);

  // Gives all cold rows, here and in the index, the same last use.
  void Restamp(uint32_t last_use);

  int64_t size() const { return size_; }

 private:
  struct Row {
    int64_t id;
    uint32_t last_use;
  };
  struct Queue {
    std::vector<Row> rows;  // [head, end): cold rows in the order they came, and leftovers
    size_t head = 0;
    size_t num_cold = 0;
  };
  static constexpr size_t kCleanAt = 16;  // leftovers that are always left alone
  static constexpr int kWords = LikelihoodClasses::kNumClasses / 64;
  static_assert(kWords < 64, "one word says which words have a bit");

  // The row's entry if it is cold and no leftover, else null.
  RowEntry* FindCold(const Row& row) const;
  // The least likely class below this one that has cold rows; -1: none.
  int WorstBelow(int likelihood) const;
  void Gather(size_t num_rows);
  void Mark(uint16_t likelihood) {
    words_[likelihood / 64] |= uint64_t{1} << likelihood % 64;
    summary_ |= uint64_t{1} << likelihood / 64;
  }
  // One cold row less in this class.
  void Lose(uint16_t likelihood) {
    Queue& queue = queues_[likelihood];
    --size_;
    if (--queue.num_cold == 0) {
      Empty(likelihood);
    } else if (queue.rows.size() > 2 * queue.num_cold + kCleanAt) {
      Clean(&queue);
    }
  }
  void Empty(uint16_t likelihood);
  void Clean(Queue* queue);

  RowIndex* const index_;
  const UseRing* const ring_;
  std::vector<Queue> queues_;             // by class
  std::array<uint64_t, kWords> words_{};  // bit c of all: queue c has cold rows
  uint64_t summary_ = 0;                  // bit w: words_[w] is not 0
  int64_t size_ = 0;
  std::vector<Row> gathered_;  // scratch
};

}  // namespace vicinity
