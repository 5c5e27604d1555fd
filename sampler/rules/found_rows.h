// What a search for rows that meet a condition has found.
#pragma once

#include <cstdint>
#include <vector>

namespace vicinity {

struct FoundRows {
  std::vector<uint64_t> rows;  // local rows, rising
  int64_t num_read = 0;        // rows whose values were read for it

  void Clear() { *this = FoundRows(); }
};

}  // namespace vicinity
