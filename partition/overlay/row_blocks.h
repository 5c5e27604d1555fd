// Rows of one width, one after the other: they do not move when more come.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace vicinity {

// Threads: one at a time may append; readers exclude it.
class RowBlocks {
 public:
  explicit RowBlocks(int64_t row_bytes) : row_bytes_(row_bytes) {}

  int64_t size() const { return size_; }
  int64_t row_bytes() const { return row_bytes_; }
  void Append(const char* rows, int64_t count) {
    while (count > 0) {
      const int64_t used = size_ % kRowsABlock;
      if (used == 0) blocks_.push_back(std::make_unique<char[]>(kRowsABlock * row_bytes_));
      const int64_t some = std::min(count, kRowsABlock - used);
      std::memcpy(blocks_.back().get() + used * row_bytes_, rows, some * row_bytes_);
      rows += some * row_bytes_;
      size_ += some;
      count -= some;
    }
  }
  void Overwrite(int64_t i, const char* row) {
    std::memcpy(blocks_[i / kRowsABlock].get() + i % kRowsABlock * row_bytes_, row, row_bytes_);
  }
  // What the next row makes this larger by.
  int64_t BytesToAppend() const { return size_ % kRowsABlock == 0 ? kRowsABlock * row_bytes_ : 0; }
  const char* row(int64_t i) const {
    return blocks_[i / kRowsABlock].get() + i % kRowsABlock * row_bytes_;
  }
  uint64_t number(int64_t i) const {  // rows of eight bytes
    uint64_t value = 0;
    std::memcpy(&value, row(i), sizeof(value));
    return value;
  }
  int64_t memory_bytes() const {
    return static_cast<int64_t>(blocks_.size()) * kRowsABlock * row_bytes_;
  }

 private:
  static constexpr int64_t kRowsABlock = 1024;

  const int64_t row_bytes_;
  int64_t size_ = 0;
  std::vector<std::unique_ptr<char[]>> blocks_;
};

}  // namespace vicinity
