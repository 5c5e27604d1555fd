// Rows gathered from anywhere in memory, or scattered there: asked for ahead of their turn, which
// hides most of their cache misses.
//
//   for (size_t i = 0; i < rows.size(); ++i) {
//     if (i + ahead < rows.size()) PrefetchRow(row(i + ahead), row_bytes);
//     copy row i
//   }
#pragma once

#include <algorithm>
#include <cstdint>

namespace vicinity {

// About as much as a core has on its way at once.
inline constexpr int64_t kPrefetchBytes = 4096;
inline constexpr int64_t kCacheLineBytes = 64;

// How many rows ahead, at least one. Of narrow rows not all that fit: they would be forgotten.
constexpr int64_t PrefetchDistance(int64_t row_bytes) {
  return std::clamp<int64_t>(kPrefetchBytes / std::max<int64_t>(row_bytes, 1), 1, 32);
}

// The whole row, or its beginning if it is wide: the processor sees by itself how that goes on.
inline void PrefetchRow(const char* row, int64_t row_bytes) {
  const int64_t end = std::min(row_bytes, kPrefetchBytes);
  for (int64_t at = 0; at < end; at += kCacheLineBytes) __builtin_prefetch(row + at);
}

// The same for a row that will be written.
inline void PrefetchPlace(const char* row, int64_t row_bytes) {
  const int64_t end = std::min(row_bytes, kPrefetchBytes);
  for (int64_t at = 0; at < end; at += kCacheLineBytes) __builtin_prefetch(row + at, 1);
}

}  // namespace vicinity
