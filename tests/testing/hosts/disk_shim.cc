// A library to preload (LD_PRELOAD) into a program whose disk is to fail: once, in one call for a
// file below a folder, with EIO; calls after it succeed, as they do on Linux, where a failed sync
// is told once and the data is gone all the same.
//   VICINITY_DISK_BELOW  the folder; mapped files count wherever they are
//   VICINITY_DISK_CALL   read, write or sync
//   VICINITY_DISK_AT     which of these calls fails, from 1 on; 0: none
//   VICINITY_DISK_TOLD   a file that gets a line for every such call: "read", ..., or "failed"
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

const char* Setting(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

ssize_t RealWrite(int fd, const void* bytes, size_t size) {
  static auto* const next = Next<ssize_t(int, const void*, size_t)>("write");
  return next(fd, bytes, size);
}

bool IsBelow(int fd) {
  static const char* const folder = Setting("VICINITY_DISK_BELOW");
  char link[64];
  std::snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  char path[PATH_MAX];
  const ssize_t length = readlink(link, path, sizeof(path) - 1);
  if (length <= 0 || *folder == '\0') return false;
  path[length] = '\0';
  return std::strncmp(path, folder, std::strlen(folder)) == 0;
}

// Counts a call; whether it is the one that fails.
bool Fails(const char* call) {
  static const char* const wanted = Setting("VICINITY_DISK_CALL");
  static const int at = std::atoi(Setting("VICINITY_DISK_AT"));
  static const int told =
      open(Setting("VICINITY_DISK_TOLD"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  static std::atomic<int> calls{0};
  if (std::strcmp(call, wanted) != 0) return false;
  const bool fails = ++calls == at;
  const std::string line = std::string(fails ? "failed" : call) + "\n";
  if (RealWrite(told, line.data(), line.size()) < 0) return fails;
  if (fails) errno = EIO;
  return fails;
}

}  // namespace

extern "C" {

ssize_t read(int fd, void* bytes, size_t size) {
  static auto* const next = Next<ssize_t(int, void*, size_t)>("read");
  return IsBelow(fd) && Fails("read") ? -1 : next(fd, bytes, size);
}

ssize_t pread(int fd, void* bytes, size_t size, off_t at) {
  static auto* const next = Next<ssize_t(int, void*, size_t, off_t)>("pread");
  return IsBelow(fd) && Fails("read") ? -1 : next(fd, bytes, size, at);
}

ssize_t write(int fd, const void* bytes, size_t size) {
  return IsBelow(fd) && Fails("write") ? -1 : RealWrite(fd, bytes, size);
}

ssize_t pwrite(int fd, const void* bytes, size_t size, off_t at) {
  static auto* const next = Next<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  return IsBelow(fd) && Fails("write") ? -1 : next(fd, bytes, size, at);
}

int posix_fallocate(int fd, off_t at, off_t size) {
  static auto* const next = Next<int(int, off_t, off_t)>("posix_fallocate");
  return IsBelow(fd) && Fails("write") ? EIO : next(fd, at, size);
}

// Syncs that do not fail are not made either: no test's folder is there after a power cut, and they
// are what takes the time.
int fsync(int fd) { return IsBelow(fd) && Fails("sync") ? -1 : 0; }

int fdatasync(int fd) { return fsync(fd); }

int msync(void*, size_t, int) { return Fails("sync") ? -1 : 0; }

}  // extern "C"
