// Marks what CUDA kernels and the host share: one source is then both a kernel's thread and its CPU
// twin.
#pragma once

#ifdef __CUDACC__
#define VICINITY_HOST_DEVICE __host__ __device__
#else
#define VICINITY_HOST_DEVICE
#endif

// Before a loop whose array must end up in registers; before one that is not worth its code.
#ifdef __CUDA_ARCH__
#define VICINITY_UNROLL _Pragma("unroll")
#define VICINITY_KEEP_ROLLED _Pragma("unroll 1")
#else
#define VICINITY_UNROLL
#define VICINITY_KEEP_ROLLED
#endif
