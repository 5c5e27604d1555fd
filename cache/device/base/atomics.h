// What kernels do to numbers that several of their threads write. On the host a kernel's threads
// run one after the other, so there it is plain.
#pragma once

#include <cstdint>

#include "proto/common/device_code.h"

namespace vicinity {

VICINITY_HOST_DEVICE inline void AtomicAdd(uint64_t* value, uint64_t more) {
#ifdef __CUDA_ARCH__
  atomicAdd(reinterpret_cast<unsigned long long*>(value), more);
#else
  *value += more;
#endif
}

}  // namespace vicinity
