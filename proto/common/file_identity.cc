#include "proto/common/file_identity.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "proto/common/file.h"

namespace vicinity {
namespace {

int64_t Nanoseconds(const struct timespec& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

FileIdentity IdentityOf(const struct stat& info) {
  FileIdentity identity;
  identity.device = static_cast<int64_t>(info.st_dev);
  identity.inode = static_cast<int64_t>(info.st_ino);
  identity.size = info.st_size;
  identity.modified_ns = Nanoseconds(info.st_mtim);
  identity.changed_ns = Nanoseconds(info.st_ctim);
  return identity;
}

int64_t FileClockNow() {
  struct timespec now = {};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return Nanoseconds(now);
}

absl::StatusOr<std::shared_ptr<const OpenFolder>> OpenFolder::Open(const std::string& path) {
  const int fd = open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return ErrnoStatus(errno, path, "open");
  return std::shared_ptr<const OpenFolder>(new OpenFolder(fd));
}

OpenFolder::~OpenFolder() { close(fd_); }

FileIdentity OpenFolder::Look(const std::string& name) const {
  struct stat info;
  if (fstatat(fd_, name.c_str(), &info, 0) != 0) return {};
  return IdentityOf(info);
}

}  // namespace vicinity
