#include "partition/overlay/store_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace vicinity {

std::shared_ptr<StoreLog> StoreLog::Open(const std::string& path) {
  std::shared_ptr<StoreLog> log(new StoreLog(path));
  MutexLock lock(&log->mu_);
  log->OpenFile();
  return log;
}

StoreLog::~StoreLog() {
  MutexLock lock(&mu_);
  if (fd_ >= 0) close(fd_);
}

void StoreLog::OpenFile() {
  fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  struct stat file {};
  bytes_ = fd_ >= 0 && fstat(fd_, &file) == 0 ? int64_t{file.st_size} : 0;
}

void StoreLog::Logv(const char* format, va_list arguments) {
  std::array<char, 4096> text;
  if (vsnprintf(text.data(), text.size(), format, arguments) < 0) return;
  std::string line = absl::StrCat(
      absl::FormatTime("%Y/%m/%d-%H:%M:%E6S ", absl::Now(), absl::UTCTimeZone()), text.data());
  if (line.back() != '\n') line.push_back('\n');
  Write(line);
}

void StoreLog::Write(const std::string& line) {
  const auto size = static_cast<int64_t>(line.size());
  MutexLock lock(&mu_);
  if (fd_ >= 0 && bytes_ + size > kMostBytes) {
    close(fd_);
    if (rename(path_.c_str(), absl::StrCat(path_, ".old").c_str()) != 0) unlink(path_.c_str());
    OpenFile();
  }
  if (fd_ < 0) return;
  const ssize_t written = write(fd_, line.data(), line.size());
  if (written > 0) bytes_ += written;
}

}  // namespace vicinity
