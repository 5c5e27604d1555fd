#include "proto/common/open_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "proto/common/machine.h"

namespace vicinity {
namespace {

constexpr int64_t kHugePage = int64_t{2} << 20;

}  // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

int Descriptor::Close() {
  const int fd = std::exchange(fd_, -1);
  return fd >= 0 ? close(fd) : 0;
}

Descriptor OpenFile(const std::string& path, int flags, mode_t mode) {
  int fd;
  do {
    fd = open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  return Descriptor(fd);
}

char* MapFile(const Descriptor& fd, int64_t size, int protection) {
  void* const data = mmap(nullptr, static_cast<size_t>(size), protection, MAP_SHARED, fd.get(), 0);
  return data == MAP_FAILED ? nullptr : static_cast<char*>(data);
}

bool AskForHugePages(const void* mapped, int64_t size) {
  if (size < kHugePage || size > TotalMemory() / 4) return false;
  madvise(const_cast<void*>(mapped), static_cast<size_t>(size), MADV_HUGEPAGE);
  return true;
}

void WriteInHugePages(void* mapped, int64_t size) {
  if (size < kHugePage) return;
  madvise(mapped, static_cast<size_t>(size), MADV_HUGEPAGE);
}

}  // namespace vicinity
