// The three atomic operations that kernels need. On the host a kernel's threads run one after the
// other, so there they are plain.
#pragma once

#include <cstdint>

#include "proto/common/device_code.h"

namespace vicinity {

VICINITY_HOST_DEVICE inline void AtomicMin(uint32_t* value, uint32_t other) {
#ifdef __CUDA_ARCH__
  atomicMin(value, other);
#else
  if (other < *value) *value = other;
#endif
}

VICINITY_HOST_DEVICE inline void AtomicAdd(uint64_t* value, uint64_t more) {
#ifdef __CUDA_ARCH__
  atomicAdd(reinterpret_cast<unsigned long long*>(value), more);
#else
  *value += more;
#endif
}

// Writes `wanted` if the value is `expected`; gives back what was there.
VICINITY_HOST_DEVICE inline uint64_t CompareAndSwap(uint64_t* value, uint64_t expected,
                                                    uint64_t wanted) {
#ifdef __CUDA_ARCH__
  return atomicCAS(reinterpret_cast<unsigned long long*>(value), expected, wanted);
#else
  const uint64_t found = *value;
  if (found == expected) *value = wanted;
  return found;
#endif
}

}  // namespace vicinity
