// A big array of zeros for random access, on huge pages where the system has them: on small ones
// most accesses would miss the TLB as well.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"

namespace vicinity {

// Memory: taken from the system as it is first written.
class HugeArray {
 public:
  HugeArray() = default;
  // ResourceExhausted, with the size, if the system refuses. At least 0 floats.
  static absl::StatusOr<HugeArray> Create(int64_t num_floats);
  ~HugeArray();
  HugeArray(HugeArray&& other) noexcept;
  HugeArray& operator=(HugeArray&& other) noexcept;

  float* data() { return data_; }  // aligned to a page
  const float* data() const { return data_; }
  int64_t size() const { return size_; }

 private:
  float* data_ = nullptr;
  int64_t size_ = 0;
};

}  // namespace vicinity
