#include "proto/common/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/common/file.h"

namespace vicinity {
namespace {

using Clock = std::chrono::steady_clock;

// The kernel tells nobody that a lock has become free but those who wait without a limit.
constexpr std::chrono::milliseconds kBetweenTries(20);

// "process 123 (vicinity)", as far as the kernel tells (`man 5 proc`, /proc/locks).
std::string HolderOf(int fd) {
  struct stat info;
  if (fstat(fd, &info) != 0) return "another process";
  const std::string inode =
      absl::StrFormat("%02x:%02x:%d", major(info.st_dev), minor(info.st_dev), info.st_ino);
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {  // 1: FLOCK ADVISORY WRITE 77 fe:00:9 0 EOF
    std::istringstream words(line);
    std::string number, kind, mode, access, where;
    int64_t pid = 0;
    words >> number >> kind >> mode >> access >> pid >> where;
    if (kind != "FLOCK" || where != inode || pid <= 0) continue;
    std::string name;
    std::getline(std::ifstream(absl::StrCat("/proc/", pid, "/comm")), name);
    return absl::StrCat("process ", pid, name.empty() ? "" : absl::StrCat(" (", name, ")"));
  }
  return "another process";
}

// Whether `folder` is still the one that was opened: its writer may have renamed it meanwhile.
bool IsStill(const std::string& folder, int fd) {
  struct stat named;
  struct stat opened;
  return stat(folder.c_str(), &named) == 0 && fstat(fd, &opened) == 0 &&
         named.st_ino == opened.st_ino && named.st_dev == opened.st_dev;
}

}  // namespace

absl::StatusOr<FolderLock> FolderLock::Take(const std::string& folder, const LockWait& wait) {
  const Clock::time_point end =
      Clock::now() + absl::ToChronoNanoseconds(std::min(wait.limit, absl::Hours(24)));
  bool told = false;
  for (;;) {
    FolderLock lock(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (lock.fd_ < 0) return ErrnoStatus(errno, folder, "open");
    if (flock(lock.fd_, LOCK_EX | LOCK_NB) == 0) {
      if (IsStill(folder, lock.fd_)) return lock;
      continue;
    }
    if (errno != EWOULDBLOCK && errno != EINTR) return ErrnoStatus(errno, folder, "lock");
    const std::string holder = absl::StrCat(folder, ": ", HolderOf(lock.fd_), " is writing it");
    if (Clock::now() >= end) {
      return absl::FailedPreconditionError(absl::StrCat(
          holder, wait.limit > absl::ZeroDuration()
                      ? absl::StrCat(", and was for the ", absl::FormatDuration(wait.limit),
                                     " of waiting; try again when it has ended")
                      : ""));
    }
    if (!told && wait.told) {
      wait.told(absl::StrCat(holder, ": waiting for up to ", absl::FormatDuration(wait.limit)));
    }
    told = true;
    std::this_thread::sleep_for(kBetweenTries);
  }
}

FolderLock::FolderLock(FolderLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

void FolderLock::Release() {
  // A child between fork and exec has the descriptor, too, and would keep the lock a moment longer.
  if (fd_ >= 0) flock(fd_, LOCK_UN);
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

}  // namespace vicinity
