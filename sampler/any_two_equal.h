// Whether a position was drawn twice, without a branch for each pair.
#pragma once

#include <array>
#include <cstdint>

namespace vicinity {

inline constexpr uint64_t kMaxFew = 16;  // values that AnyTwoEqual takes

namespace few {

using Four = uint32_t __attribute__((vector_size(16)));

template <int kVectors>
bool AnyTwoEqual(const uint32_t* values) {
  Four equal = {};
  std::array<Four, kVectors> v;
  __builtin_memcpy(v.data(), values, sizeof(v));
  for (int a = 0; a < kVectors; ++a) {
    const Four by1 = __builtin_shufflevector(v[a], v[a], 1, 2, 3, 0);
    const Four by2 = __builtin_shufflevector(v[a], v[a], 2, 3, 0, 1);
    const Four by3 = __builtin_shufflevector(v[a], v[a], 3, 0, 1, 2);
    equal |= static_cast<Four>((v[a] == by1) | (v[a] == by2));
    for (int b = a + 1; b < kVectors; ++b) {
      equal |= static_cast<Four>((v[b] == v[a]) | (v[b] == by1) | (v[b] == by2) | (v[b] == by3));
    }
  }
  return (equal[0] | equal[1] | equal[2] | equal[3]) != 0;
}

}  // namespace few

// `values` has kMaxFew elements, `count` of them given and below 2^31; the others are overwritten
// with what equals none.
inline bool AnyTwoEqual(uint32_t* values, uint64_t count) {
  for (auto i = static_cast<uint32_t>(count); i < kMaxFew; ++i) values[i] = ~i;
  if (count <= 4) return few::AnyTwoEqual<1>(values);
  if (count <= 8) return few::AnyTwoEqual<2>(values);
  if (count <= 12) return few::AnyTwoEqual<3>(values);
  return few::AnyTwoEqual<4>(values);
}

}  // namespace vicinity
