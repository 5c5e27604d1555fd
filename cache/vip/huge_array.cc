#include "cache/vip/huge_array.h"

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace vicinity {

absl::StatusOr<HugeArray> HugeArray::Create(int64_t num_floats) {
  HugeArray array;
  if (num_floats == 0) return array;
  const size_t bytes = static_cast<size_t>(num_floats) * sizeof(float);
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return absl::ResourceExhaustedError(absl::StrCat("the system refuses ", bytes, " bytes"));
  }
  // Advice: where it is not taken, the pages are small and all else is the same.
  madvise(memory, bytes, MADV_HUGEPAGE);
  array.data_ = static_cast<float*>(memory);
  array.size_ = num_floats;
  return array;
}

HugeArray::~HugeArray() {
  if (data_ != nullptr) munmap(data_, static_cast<size_t>(size_) * sizeof(float));
}

HugeArray::HugeArray(HugeArray&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

HugeArray& HugeArray::operator=(HugeArray&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

}  // namespace vicinity
