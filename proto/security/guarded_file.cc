#include "proto/security/guarded_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/common/file.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;

// Opened once, so that what is checked is what is read.
class OpenedFile {
 public:
  explicit OpenedFile(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~OpenedFile() {
    if (fd_ >= 0) close(fd_);
  }
  OpenedFile(const OpenedFile&) = delete;
  OpenedFile& operator=(const OpenedFile&) = delete;
  int fd() const { return fd_; }

 private:
  const int fd_;
};

absl::StatusOr<std::string> ReadAll(const std::string& path, int fd) {
  std::string bytes;
  char block[4096];
  for (;;) {
    const ssize_t got = read(fd, block, sizeof(block));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus(errno, path, "read");
    if (got == 0) return bytes;
    bytes.append(block, static_cast<size_t>(got));
    if (bytes.size() > kMostBytes) {
      return absl::ResourceExhaustedError(absl::StrCat(path, ": is larger than 1 MiB"));
    }
  }
}

absl::StatusOr<std::string> ReadGuarded(const std::string& path, bool secret) {
  const OpenedFile file(path);
  if (file.fd() < 0) return ErrnoStatus(errno, path, "open");
  struct stat facts {};
  if (fstat(file.fd(), &facts) != 0) return ErrnoStatus(errno, path, "stat");
  if (!S_ISREG(facts.st_mode)) {
    return absl::FailedPreconditionError(absl::StrCat(path, ": is not a file"));
  }
  mode_t forbidden = S_IWGRP | S_IWOTH;
  if (secret) forbidden |= S_IROTH | (facts.st_uid == 0 ? 0 : S_IRGRP);
  if ((facts.st_mode & forbidden) != 0) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "%s: has the permissions %04o, so others could %s it: chmod %s %s", path,
        facts.st_mode & 07777, secret ? "read" : "change", secret ? "600" : "go-w", path));
  }
  if (!secret && facts.st_uid != 0 && facts.st_uid != geteuid()) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": belongs to user ", facts.st_uid,
                     ", who could change it: chown it to root or to who runs this"));
  }
  return ReadAll(path, file.fd());
}

absl::Status WriteAll(const std::string& path, int fd, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return ErrnoStatus(errno, path, "write");
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return fsync(fd) == 0 ? absl::OkStatus() : ErrnoStatus(errno, path, "sync");
}

absl::Status WriteBeside(const std::string& path, const std::string& temporary,
                         absl::string_view bytes) {
  unlink(temporary.c_str());  // of a process that had our number, and died
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return ErrnoStatus(errno, path, "create");
  const absl::Status written = WriteAll(path, fd, bytes);
  close(fd);
  return written;
}

// Unlike a rename, a link never takes the place of a file that is there.
absl::Status PutInPlace(const std::string& temporary, const std::string& path, IfThere if_there) {
  if (if_there == IfThere::kReplace) {
    if (std::rename(temporary.c_str(), path.c_str()) == 0) return absl::OkStatus();
    return ErrnoStatus(errno, path, "rename");
  }
  if (link(temporary.c_str(), path.c_str()) == 0) {
    unlink(temporary.c_str());
    return absl::OkStatus();
  }
  return ErrnoStatus(errno, path, "create");
}

}  // namespace

absl::StatusOr<std::string> ReadSecretFile(const std::string& path) {
  return ReadGuarded(path, /*secret=*/true);
}

absl::StatusOr<std::string> ReadTrustedFile(const std::string& path) {
  return ReadGuarded(path, /*secret=*/false);
}

absl::Status WriteSecretFile(const std::string& path, absl::string_view bytes, IfThere if_there) {
  const std::string temporary = absl::StrCat(path, ".tmp.", getpid());
  absl::Status status = WriteBeside(path, temporary, bytes);
  if (status.ok()) status = PutInPlace(temporary, path, if_there);
  if (!status.ok()) {
    unlink(temporary.c_str());
    return status;
  }
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return SyncDirectory(folder.empty() ? "." : folder);
}

}  // namespace vicinity
