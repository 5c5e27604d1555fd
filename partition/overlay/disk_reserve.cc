#include "partition/overlay/disk_reserve.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/common/file.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// Of an earlier process. A file with holes has no room of its own.
bool IsWhole(const std::string& path, int64_t bytes) {
  struct stat file {};
  constexpr int64_t kBlock = 512;
  return lstat(path.c_str(), &file) == 0 && S_ISREG(file.st_mode) && file.st_size == bytes &&
         int64_t{file.st_blocks} * kBlock >= bytes;
}

}  // namespace

DiskReserve::DiskReserve(std::string path, int64_t bytes) : path_(std::move(path)), bytes_(bytes) {}

absl::Status DiskReserve::Make() {
  MutexLock lock(&mu_);
  if (bytes_ == 0) unlink(path_.c_str());
  if (bytes_ == 0 || held_) return absl::OkStatus();
  VICINITY_RETURN_IF_ERROR(Take());
  held_ = true;
  given_up_ = false;
  return absl::OkStatus();
}

absl::Status DiskReserve::Take() {
  if (IsWhole(path_, bytes_)) return absl::OkStatus();
  unlink(path_.c_str());
  const int file = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return ErrnoStatus(errno, path_, "create");
  int error;
  do {
    error = posix_fallocate(file, 0, bytes_);
  } while (error == EINTR);
  close(file);
  if (error == 0) return absl::OkStatus();
  unlink(path_.c_str());
  return ErrnoStatus(error, path_, absl::StrCat("reserve ", bytes_, " bytes"));
}

bool DiskReserve::GiveUp() {
  MutexLock lock(&mu_);
  if (bytes_ == 0) return false;
  if (held_) ++times_given_up_;
  held_ = false;
  given_up_ = true;
  return unlink(path_.c_str()) == 0;
}

bool DiskReserve::is_held() const {
  MutexLock lock(&mu_);
  return held_;
}

bool DiskReserve::is_given_up() const {
  MutexLock lock(&mu_);
  return given_up_;
}

int64_t DiskReserve::times_given_up() const {
  MutexLock lock(&mu_);
  return times_given_up_;
}

int64_t DiskReserve::missing_bytes() const {
  MutexLock lock(&mu_);
  return held_ ? 0 : bytes_;
}

}  // namespace vicinity
