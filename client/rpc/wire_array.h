// Arrays of integers as they travel: little-endian, in the `bytes` fields of messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "proto/sliced_message.h"

namespace vicinity {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays are sent as they lie in memory");

// The values of a received field, however it lies. The size must be a multiple of sizeof(T).
template <typename T>
void AppendArray(const SlicedBytes& bytes, std::vector<T>* out) {
  const size_t before = out->size();
  out->resize(before + bytes.size() / sizeof(T));
  bytes.CopyTo(out->data() + before);
}

// The i-th value of `bytes`, which need not be aligned.
template <typename T>
T ArrayValue(const std::string& bytes, size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
void AppendBytes(absl::Span<const T> values, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

}  // namespace vicinity
