// The gather that a benchmark compares with: what one writes first.
#pragma once

#include <cstdint>

namespace vicinity::benchmark {

// Puts into a CUDA stream (a cudaStream_t) a kernel with a thread for every four bytes of the
// output: row i of `to` becomes row rows[i] of `from`. False if it cannot, as in builds without
// CUDA.
bool PlainGather(void* stream, const char* from, const int32_t* rows, char* to, int64_t num_rows,
                 int64_t row_bytes);

}  // namespace vicinity::benchmark
