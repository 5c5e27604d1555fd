#include "proto/security/memory_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "absl/strings/str_cat.h"
#include "proto/common/file.h"

namespace vicinity {
namespace {

constexpr char kName[] = "memory file";

absl::Status Fill(int fd, absl::string_view content, int64_t second) {
  while (!content.empty()) {
    const ssize_t put = write(fd, content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return ErrnoStatus(errno, kName, "write");
    content.remove_prefix(static_cast<size_t>(put));
  }
  const timespec times[2] = {{second, 0}, {second, 0}};
  if (fchmod(fd, 0400) != 0 || futimens(fd, times) != 0) {
    return ErrnoStatus(errno, kName, "set up");
  }
  return absl::OkStatus();
}

// A process that must not be dumped, as one with capabilities of its file, may not open it.
absl::Status CheckOpens(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return ErrnoStatus(errno, path, "open a memory file (is /proc there?)");
  close(fd);
  return absl::OkStatus();
}

}  // namespace

MemoryFile::~MemoryFile() {
  if (fd_ >= 0) close(fd_);
}

absl::Status MemoryFile::Set(absl::string_view content) {
  const int fresh = memfd_create("vicinity", MFD_CLOEXEC);
  if (fresh < 0) return ErrnoStatus(errno, kName, "create");
  absl::Status status = Fill(fresh, content, ++num_set_);
  if (status.ok() && fd_ < 0) {
    fd_ = fresh;
    return CheckOpens(path());
  }
  // The number stays, what is behind it changes in one step.
  if (status.ok() && dup3(fresh, fd_, O_CLOEXEC) < 0) status = ErrnoStatus(errno, kName, "replace");
  close(fresh);
  return status;
}

std::string MemoryFile::path() const { return fd_ < 0 ? "" : absl::StrCat("/proc/self/fd/", fd_); }

}  // namespace vicinity
