// Which of many numbers are there, and how many of those are below one: what numbers them anew
// without gaps, in their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vicinity {

// Threads: one may change it; once sealed any number may read.
// Memory:  9 bits a number.
class RankedBits {
 public:
  // Numbers below `size`, all of which are there or none.
  explicit RankedBits(int64_t size = 0, bool there = false)
      : words_(WordsFor(size), there ? ~uint64_t{0} : 0) {
    if (there && size % 64 != 0) words_.back() = (uint64_t{1} << size % 64) - 1;
  }

  // Grows to any number.
  void Set(int64_t i) {
    if (i / 64 >= static_cast<int64_t>(words_.size())) words_.resize(i / 64 + 1);
    words_[i / 64] |= Bit(i);
  }
  void Clear(int64_t i) { words_[i / 64] &= ~Bit(i); }
  bool Has(int64_t i) const {
    return i / 64 < static_cast<int64_t>(words_.size()) && (words_[i / 64] & Bit(i)) != 0;
  }

  // After the last change, before the first Rank or count.
  void Seal() {
    ranks_.clear();
    count_ = 0;
    for (size_t w = 0; w < words_.size(); ++w) {
      if (w % kWordsARank == 0) ranks_.push_back(count_);
      count_ += __builtin_popcountll(words_[w]);
    }
  }
  int64_t count() const { return count_; }
  // How many there are below `i`.
  int64_t Rank(int64_t i) const {
    const auto word = static_cast<size_t>(i / 64);
    if (word >= words_.size()) return count_;
    int64_t rank = ranks_[word / kWordsARank];
    for (size_t w = word / kWordsARank * kWordsARank; w < word; ++w) {
      rank += __builtin_popcountll(words_[w]);
    }
    return rank + __builtin_popcountll(words_[word] & (Bit(i) - 1));
  }

 private:
  static constexpr size_t kWordsARank = 8;  // a line of memory

  static size_t WordsFor(int64_t size) { return static_cast<size_t>((size + 63) / 64); }
  static uint64_t Bit(int64_t i) { return uint64_t{1} << i % 64; }

  std::vector<uint64_t> words_;
  std::vector<int64_t> ranks_;  // of each kWordsARank words, how many there are before them
  int64_t count_ = 0;
};

}  // namespace vicinity
