#include "proto/common/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/common/open_file.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

absl::StatusOr<size_t> SizeOfRegularFile(const Descriptor& fd, const std::string& path) {
  struct stat info;
  if (fstat(fd.get(), &info) != 0) return ErrnoStatus(errno, path, "stat");
  if (!S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": not a regular file"));
  }
  return static_cast<size_t>(info.st_size);
}

absl::Status WriteAll(const Descriptor& fd, const std::string& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ErrnoStatus(errno, path, "write");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status WriteNewFile(const std::string& path, std::string_view bytes) {
  // What lies there is of a process that was killed, or a link that somebody planted: in a folder
  // that others may write to, they choose what it points to.
  unlink(path.c_str());
  Descriptor fd = OpenFile(path, O_WRONLY | O_CREAT | O_EXCL);
  if (!fd.ok()) return ErrnoStatus(errno, path, "create");
  VICINITY_RETURN_IF_ERROR(WriteAll(fd, path, bytes));
  if (fsync(fd.get()) != 0) return ErrnoStatus(errno, path, "sync");
  if (fd.Close() != 0) return ErrnoStatus(errno, path, "close");
  return absl::OkStatus();
}

// Space is taken now, or writing through the mapping could end in SIGBUS.
absl::Status TakeSpace(const Descriptor& fd, const std::string& path, int64_t size) {
  if (ftruncate(fd.get(), size) != 0) return ErrnoStatus(errno, path, "resize");
  if (size == 0) return absl::OkStatus();
  int error;
  do {
    error = posix_fallocate(fd.get(), 0, size);
  } while (error == EINTR);
  if (error != 0) {
    return ErrnoStatus(error, path, absl::StrCat("reserve ", size, " bytes"));
  }
  return absl::OkStatus();
}

std::string ParentOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

absl::Status ErrnoStatus(int error, absl::string_view path, absl::string_view what) {
  const std::string text = absl::StrCat(path, ": ", what, ": ", std::strerror(error));
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::NotFoundError(text);
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(text);
    case EEXIST:
    case ENOTEMPTY:
      return absl::AlreadyExistsError(text);
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      return absl::ResourceExhaustedError(text);
    case EINVAL:
    case EISDIR:
    case ENAMETOOLONG:
      return absl::InvalidArgumentError(text);
    default:
      return absl::UnavailableError(text);
  }
}

absl::StatusOr<std::unique_ptr<MappedFile>> MappedFile::Open(const std::string& path) {
  const Descriptor fd = OpenFile(path, O_RDONLY);
  if (!fd.ok()) return ErrnoStatus(errno, path, "open");
  VICINITY_ASSIGN_OR_RETURN(const size_t size, SizeOfRegularFile(fd, path));
  const char* data = nullptr;
  if (size > 0) {
    data = MapFile(fd, static_cast<int64_t>(size), PROT_READ);
    if (data == nullptr) return ErrnoStatus(errno, path, "map");
  }
  return std::unique_ptr<MappedFile>(new MappedFile(path, data, size));
}

MappedFile::MappedFile(std::string path, const char* data, size_t size)
    : path_(std::move(path)), data_(data), size_(size) {}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
}

void MappedFile::AskForHugePages() const {
  vicinity::AskForHugePages(data_, static_cast<int64_t>(size_));
}

absl::StatusOr<std::unique_ptr<MappedOutput>> MappedOutput::Create(const std::string& path,
                                                                   int64_t size) {
  if (size < 0) return absl::InvalidArgumentError(absl::StrCat(path, ": size ", size));
  const Descriptor fd = OpenFile(path, O_RDWR | O_CREAT | O_EXCL);
  if (!fd.ok()) return ErrnoStatus(errno, path, "create");
  char* data = nullptr;
  absl::Status status = TakeSpace(fd, path, size);
  if (status.ok() && size > 0) {
    data = MapFile(fd, size, PROT_READ | PROT_WRITE);
    if (data == nullptr) status = ErrnoStatus(errno, path, "map");
  }
  if (!status.ok()) {
    unlink(path.c_str());
    return status;
  }
  WriteInHugePages(data, size);
  return std::unique_ptr<MappedOutput>(new MappedOutput(path, data, static_cast<size_t>(size)));
}

MappedOutput::MappedOutput(std::string path, char* data, size_t size)
    : path_(std::move(path)), data_(data), size_(size) {}

MappedOutput::~MappedOutput() {
  if (data_ != nullptr) munmap(data_, size_);
}

absl::Status MappedOutput::Sync() {
  if (data_ != nullptr && msync(data_, size_, MS_SYNC) != 0) {
    return ErrnoStatus(errno, path_, "sync");
  }
  return absl::OkStatus();
}

absl::Status ReadInPieces(const std::string& path,
                          const std::function<absl::Status(std::string_view)>& take) {
  const Descriptor fd = OpenFile(path, O_RDONLY);
  if (!fd.ok()) return ErrnoStatus(errno, path, "open");
  // Read, not mapped: a file that is cut off meanwhile ends early instead of killing the process.
  std::vector<char> buffer(size_t{1} << 20);
  for (;;) {
    const ssize_t got = read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus(errno, path, "read");
    if (got == 0) return absl::OkStatus();
    VICINITY_RETURN_IF_ERROR(take({buffer.data(), static_cast<size_t>(got)}));
  }
}

absl::StatusOr<std::string> ReadFile(const std::string& path, int64_t limit_bytes) {
  std::string bytes;
  VICINITY_RETURN_IF_ERROR(ReadInPieces(path, [&](std::string_view piece) {
    if (static_cast<int64_t>(bytes.size() + piece.size()) > limit_bytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat(path, ": larger than the limit of ", limit_bytes, " bytes"));
    }
    bytes.append(piece);
    return absl::OkStatus();
  }));
  return bytes;
}

absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes) {
  // The process id keeps two writers from sharing one temporary file.
  const std::string temporary = absl::StrCat(path, ".tmp.", getpid());
  absl::Status status = WriteNewFile(temporary, bytes);
  if (status.ok() && std::rename(temporary.c_str(), path.c_str()) != 0) {
    status = ErrnoStatus(errno, path, "rename");
  }
  if (!status.ok()) {
    unlink(temporary.c_str());
    return status;
  }
  return SyncDirectory(ParentOf(path));
}

absl::Status SyncDirectory(const std::string& path) {
  const Descriptor fd = OpenFile(path, O_RDONLY | O_DIRECTORY);
  if (!fd.ok()) return ErrnoStatus(errno, path, "open");
  // Some file systems know no sync of directories (EINVAL): there is nothing to wait for then.
  if (fsync(fd.get()) != 0 && errno != EINVAL) return ErrnoStatus(errno, path, "sync");
  return absl::OkStatus();
}

}  // namespace vicinity
