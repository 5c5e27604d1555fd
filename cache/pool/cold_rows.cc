#include "cache/pool/cold_rows.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cache/pool/likelihood_classes.h"
#include "cache/pool/row_index.h"
#include "cache/pool/use_ring.h"

namespace vicinity {
namespace {

// How many rows are looked at together, so that their cache misses overlap.
constexpr size_t kTogether = 32;
constexpr size_t kAhead = 12;

}  // namespace

RowEntry* ColdRows::FindCold(const Row& row) const {
  RowEntry* const entry = index_->Find(row.id);
  const bool is_cold = entry != nullptr && entry->slot >= 0 && entry->last_use == row.last_use &&
                       !ring_->Contains(entry->last_use);
  return is_cold ? entry : nullptr;
}

void ColdRows::TakeWorst(int64_t num_rows, std::vector<int64_t>* ids) {
  while (num_rows > 0 && size_ > 0) {
    Gather(std::min<size_t>(num_rows, kTogether));
    for (const Row& row : gathered_) {
      const RowEntry* const entry = FindCold(row);
      if (entry == nullptr) continue;
      ids->push_back(row.id);
      --num_rows;
      Lose(entry->key.likelihood());
    }
  }
}

// Takes rows from the heads of the queues, leftovers among them.
void ColdRows::Gather(size_t num_rows) {
  gathered_.clear();
  for (int likelihood = WorstBelow(LikelihoodClasses::kNumClasses); likelihood >= 0;
       likelihood = WorstBelow(likelihood)) {
    Queue& queue = queues_[likelihood];
    for (; queue.head < queue.rows.size(); ++queue.head) {
      if (gathered_.size() == num_rows) return;
      gathered_.push_back(queue.rows[queue.head]);
      index_->Prefetch(gathered_.back().id);
    }
  }
}

int ColdRows::WorstBelow(int likelihood) const {
  const int word = likelihood / 64;
  const uint64_t below = (uint64_t{1} << likelihood % 64) - 1;
  if (word < kWords && (words_[word] & below) != 0) {
    return word * 64 + 63 - __builtin_clzll(words_[word] & below);
  }
  const uint64_t words = summary_ & ((uint64_t{1} << word) - 1);
  if (words == 0) return -1;
  const int last = 63 - __builtin_clzll(words);
  return last * 64 + 63 - __builtin_clzll(words_[last]);
}

void ColdRows::Empty(uint16_t likelihood) {
  Queue& queue = queues_[likelihood];
  queue.rows.clear();
  queue.head = 0;
  words_[likelihood / 64] &= ~(uint64_t{1} << likelihood % 64);
  if (words_[likelihood / 64] == 0) summary_ &= ~(uint64_t{1} << likelihood / 64);
}

void ColdRows::Restamp(uint32_t last_use) {
  for (Queue& queue : queues_) {
    Clean(&queue);
    for (Row& row : queue.rows) {
      index_->Find(row.id)->last_use = last_use;
      row.last_use = last_use;
    }
  }
}

void ColdRows::Clean(Queue* queue) {
  size_t num_kept = 0;
  for (size_t i = queue->head; i < queue->rows.size(); ++i) {
    if (i + kAhead < queue->rows.size()) index_->Prefetch(queue->rows[i + kAhead].id);
    if (FindCold(queue->rows[i]) != nullptr) queue->rows[num_kept++] = queue->rows[i];
  }
  queue->rows.resize(num_kept);
  queue->head = 0;
}

}  // namespace vicinity
