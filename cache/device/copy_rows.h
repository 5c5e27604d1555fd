// Rows copied from place to place by index: gather out of a pool, scatter into it, and gather out
// of two memories at once. The same threads on a device and, one after the other, on the host.
//
// Plain values and addresses: nothing here owns memory or checks a size.
#pragma once

#include <cassert>
#include <cstdint>

#include "cache/device/base/kernel.h"
#include "proto/common/device_code.h"

namespace vicinity {

// Where rows lie: [0, split) at `near`, the others at `far`, say pinned host memory that a device
// reads over its link. One memory alone: split = num_rows.
struct RowPlaces {
  char* near = nullptr;
  char* far = nullptr;
  int64_t split = 0;
  int64_t num_rows = 0;
  int64_t stride = 0;  // bytes from row to row, in both

  VICINITY_HOST_DEVICE char* Row(int64_t row) const {
    assert(row >= 0 && row < num_rows);
    const bool is_near = row < split;  // without a branch
    return (is_near ? near : far) + (is_near ? row : row - split) * stride;
  }
};

inline RowPlaces RowsAt(char* rows, int64_t num_rows, int64_t stride) {
  RowPlaces places;
  places.near = rows;
  places.split = places.num_rows = num_rows;
  places.stride = stride;
  return places;
}

// Copies num_rows rows of row_bytes. The i-th goes from row from_rows[i] of `from` to row
// to_rows[i] of `to`; a null list means i itself. Rows with an index below 0 are left out; other
// indexes must be rows (checked in debug builds). Rows of `to` are mentioned once, and none
// overlaps `from`.
struct CopyRows {
  RowPlaces from;
  RowPlaces to;
  const int32_t* from_rows = nullptr;
  const int32_t* to_rows = nullptr;
  int64_t num_rows = 0;
  int64_t row_bytes = 0;
};

// How the work is dealt to threads: a row to a group of 2^lane_bits threads, which take its words
// in turn, and kRowsAtOnce rows to each group, so that a thread has that many reads under way.
struct CopyRowsShape {
  int word_bytes = 1;  // 16, 8, 4, 2 or 1: the most that every address and width allows
  int lane_bits = 0;
  int64_t num_groups = 0;

  VICINITY_HOST_DEVICE int64_t num_threads() const { return num_groups << lane_bits; }
};

// Measured on an H200, of 1, 2, 4 and 8: with 1 too little is under way, with 4 and more threads
// hold so many registers that rows of up to 512 bytes come 1 to 4 % more slowly.
inline constexpr int kRowsAtOnce = 2;

// What streams take (DeviceStream::Launch).
Kernel KernelOf(const CopyRows& work);
// Into a cudaStream_t; a cudaError_t, kNoCuda in builds without CUDA.
int LaunchOnCuda(void* stream, const CopyRows& work);

inline CopyRowsShape ShapeOf(const CopyRows& work) {
  const auto low_bits = [](const RowPlaces& places) {
    return reinterpret_cast<uintptr_t>(places.near) |
           (places.split < places.num_rows ? reinterpret_cast<uintptr_t>(places.far) : 0) |
           static_cast<uintptr_t>(places.stride);
  };
  const uintptr_t bits =
      low_bits(work.from) | low_bits(work.to) | static_cast<uintptr_t>(work.row_bytes) | 16;
  CopyRowsShape shape;
  shape.word_bytes = static_cast<int>(bits & -bits);
  while (shape.lane_bits < 5 && (shape.word_bytes << shape.lane_bits) < work.row_bytes) {
    ++shape.lane_bits;
  }
  shape.num_groups = (work.num_rows + kRowsAtOnce - 1) / kRowsAtOnce;
  return shape;
}

template <int kBytes>
struct RowWord;
template <>
struct RowWord<16> {
  struct alignas(16) Type {
    uint32_t words[4];
  };
};
template <>
struct RowWord<8> {
  using Type = uint64_t;
};
template <>
struct RowWord<4> {
  using Type = uint32_t;
};
template <>
struct RowWord<2> {
  using Type = uint16_t;
};
template <>
struct RowWord<1> {
  using Type = uint8_t;
};

// What one thread does. Groups take every num_groups-th row, so that neighbours write side by side.
template <int kWordBytes>
VICINITY_HOST_DEVICE inline void CopyRowsThread(const CopyRows& work, const CopyRowsShape& shape,
                                                int64_t thread) {
  using Word = typename RowWord<kWordBytes>::Type;
  const int64_t group = thread >> shape.lane_bits;
  const auto lane = static_cast<int32_t>(thread & ((int64_t{1} << shape.lane_bits) - 1));
  // All indexes are asked for before the first is looked at.
  int64_t from_rows[kRowsAtOnce];
  int64_t to_rows[kRowsAtOnce];
  VICINITY_UNROLL
  for (int k = 0; k < kRowsAtOnce; ++k) {
    const int64_t i = group + k * shape.num_groups;
    const bool exists = i < work.num_rows;
    from_rows[k] = !exists ? -1 : work.from_rows == nullptr ? i : work.from_rows[i];
    to_rows[k] = !exists ? -1 : work.to_rows == nullptr ? i : work.to_rows[i];
  }
  const Word* from[kRowsAtOnce];
  Word* to[kRowsAtOnce];
  VICINITY_UNROLL
  for (int k = 0; k < kRowsAtOnce; ++k) {
    const bool copied = from_rows[k] >= 0 && to_rows[k] >= 0;
    from[k] = copied ? reinterpret_cast<const Word*>(work.from.Row(from_rows[k])) : nullptr;
    to[k] = copied ? reinterpret_cast<Word*>(work.to.Row(to_rows[k])) : nullptr;
  }
  const auto num_words = static_cast<int32_t>(work.row_bytes / kWordBytes);
  VICINITY_KEEP_ROLLED
  for (int32_t w = lane; w < num_words; w += 1 << shape.lane_bits) {
    Word words[kRowsAtOnce];
    VICINITY_UNROLL
    for (int k = 0; k < kRowsAtOnce; ++k) {
      if (from[k] != nullptr) words[k] = from[k][w];
    }
    VICINITY_UNROLL
    for (int k = 0; k < kRowsAtOnce; ++k) {
      if (from[k] != nullptr) to[k][w] = words[k];
    }
  }
}

}  // namespace vicinity
