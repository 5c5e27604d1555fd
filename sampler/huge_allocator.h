// Memory for tables that are read at random, on huge pages where the system has them.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace vicinity {

// For std containers. Arrays of a huge page or more are aligned to one, and the system is asked to
// use them; on small pages most accesses would miss the TLB as well.
template <typename T>
class HugeAllocator {
 public:
  using value_type = T;

  HugeAllocator() = default;
  template <typename Other>
  HugeAllocator(const HugeAllocator<Other>& /*other*/) {}  // NOLINT(google-explicit-constructor)

  T* allocate(size_t count) {
    size_t bytes = count * sizeof(T);
    const size_t alignment = bytes < kHugePage ? kSmall : kHugePage;
    bytes = (bytes + alignment - 1) / alignment * alignment;
    void* const memory = std::aligned_alloc(alignment, bytes);
    if (memory == nullptr) throw std::bad_alloc();  // what the containers expect
    // Advice: where it is not taken, all else is the same.
    if (alignment == kHugePage) madvise(memory, bytes, MADV_HUGEPAGE);
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t /*count*/) { std::free(memory); }

  friend bool operator==(HugeAllocator, HugeAllocator) { return true; }
  friend bool operator!=(HugeAllocator, HugeAllocator) { return false; }

 private:
  static constexpr size_t kSmall = 64;
  static constexpr size_t kHugePage = size_t{2} << 20;
};

}  // namespace vicinity
