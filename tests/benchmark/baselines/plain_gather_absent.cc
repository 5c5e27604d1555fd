#include <cstdint>

#include "tests/benchmark/baselines/plain_gather.h"

namespace vicinity::benchmark {

bool PlainGather(void* stream, const char* from, const int32_t* rows, char* to, int64_t num_rows,
                 int64_t row_bytes) {
  static_cast<void>(stream);
  static_cast<void>(from);
  static_cast<void>(rows);
  static_cast<void>(to);
  static_cast<void>(num_rows);
  static_cast<void>(row_bytes);
  return false;
}

}  // namespace vicinity::benchmark
