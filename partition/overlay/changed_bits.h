// Which rows may be another than in the files: a bit each, for who asks of most rows and is told
// no.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace vicinity {

// Threads: one may set while any number read, without a lock: who knows of a change sees its bit.
// Memory:  an eighth of a byte a row where there are changes near it, else next to none.
class ChangedBits {
 public:
  explicit ChangedBits(int64_t num_rows) : pages_((num_rows + kPageRows - 1) / kPageRows) {}
  ~ChangedBits() {
    for (std::atomic<Page*>& page : pages_) delete page.load(std::memory_order_relaxed);
  }
  ChangedBits(const ChangedBits&) = delete;
  ChangedBits& operator=(const ChangedBits&) = delete;

  // Rows that are not in the files have no bit.
  void Set(uint64_t row) {
    if (row / kPageRows >= pages_.size()) return;
    std::atomic<Page*>& page = pages_[row / kPageRows];
    if (page.load(std::memory_order_relaxed) == nullptr) {
      page.store(new Page(), std::memory_order_release);
      num_pages_.fetch_add(1, std::memory_order_release);
    }
    const uint64_t at = row % kPageRows;
    page.load(std::memory_order_relaxed)
        ->words[at / 64]
        .fetch_or(uint64_t{1} << at % 64, std::memory_order_release);
  }
  bool Has(uint64_t row) const {
    if (row / kPageRows >= pages_.size()) return false;
    const Page* const page = pages_[row / kPageRows].load(std::memory_order_acquire);
    const uint64_t at = row % kPageRows;
    return page != nullptr &&
           (page->words[at / 64].load(std::memory_order_relaxed) >> at % 64 & 1) != 0;
  }
  bool any() const { return num_pages_.load(std::memory_order_acquire) > 0; }
  int64_t memory_bytes() const {
    return static_cast<int64_t>(pages_.size() * sizeof(pages_[0])) +
           num_pages_.load() * static_cast<int64_t>(sizeof(Page));
  }

 private:
  static constexpr uint64_t kPageRows = uint64_t{1} << 15;
  struct Page {
    std::atomic<uint64_t> words[kPageRows / 64] = {};
  };

  std::vector<std::atomic<Page*>> pages_;  // null: no row of it
  std::atomic<int64_t> num_pages_{0};
};

}  // namespace vicinity
