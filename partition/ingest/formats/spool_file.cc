#include "partition/ingest/formats/spool_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/common/file.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;

absl::Status WriteAll(int fd, std::string_view bytes, const std::string& directory) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ErrnoStatus(errno, directory, "cannot write a temporary file");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<SpoolFile>> SpoolFile::Create(const std::string& directory) {
  std::string path = absl::StrCat(directory, "/.vicinity-spool-XXXXXX");
  const int fd = mkostemp(path.data(), O_CLOEXEC);
  if (fd < 0) return ErrnoStatus(errno, directory, "cannot create a temporary file");
  auto spool = std::unique_ptr<SpoolFile>(new SpoolFile(directory, fd));
  if (unlink(path.c_str()) != 0) return ErrnoStatus(errno, path, "cannot unlink it");
  return spool;
}

SpoolFile::SpoolFile(std::string directory, int fd) : directory_(std::move(directory)), fd_(fd) {}

SpoolFile::~SpoolFile() {
  if (mapped_ != nullptr) munmap(mapped_, static_cast<size_t>(size_));
  close(fd_);
}

absl::Status SpoolFile::Append(std::string_view bytes) {
  assert(mapped_ == nullptr);
  size_ += static_cast<int64_t>(bytes.size());
  if (buffer_.size() + bytes.size() <= kBufferBytes) {
    buffer_.append(bytes);
    return absl::OkStatus();
  }
  VICINITY_RETURN_IF_ERROR(Flush());
  if (bytes.size() > kBufferBytes) return WriteAll(fd_, bytes, directory_);
  buffer_.assign(bytes);
  return absl::OkStatus();
}

absl::StatusOr<std::string_view> SpoolFile::Map() {
  VICINITY_RETURN_IF_ERROR(Flush());
  buffer_ = std::string();
  VICINITY_ASSIGN_OR_RETURN(const absl::Span<char> bytes, MapAll());
  return std::string_view(bytes.data(), bytes.size());
}

absl::StatusOr<absl::Span<char>> SpoolFile::MapFixed(int64_t size) {
  assert(size_ == 0 && mapped_ == nullptr);
  if (size > 0) {
    int error = EINTR;
    while (error == EINTR) error = posix_fallocate(fd_, 0, size);
    if (error != 0) {
      return ErrnoStatus(error, directory_,
                         absl::StrCat("cannot take ", size, " bytes for a temporary file"));
    }
  }
  size_ = size;
  return MapAll();
}

absl::Status SpoolFile::Flush() {
  VICINITY_RETURN_IF_ERROR(WriteAll(fd_, buffer_, directory_));
  buffer_.clear();
  return absl::OkStatus();
}

std::string SpoolDirectoryFor(const std::string& output) {
  const size_t last = output.find_last_not_of('/');  // "graphs/cora/" lies in "graphs" too
  const size_t slash = last == std::string::npos ? 0 : output.rfind('/', last);
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : output.substr(0, slash);
}

absl::StatusOr<absl::Span<char>> SpoolFile::MapAll() {
  const size_t size = static_cast<size_t>(size_);
  if (size == 0) return absl::Span<char>();
  if (mapped_ == nullptr) {
    void* const address = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    if (address == MAP_FAILED) return ErrnoStatus(errno, directory_, "cannot map a temporary file");
    mapped_ = static_cast<char*>(address);
  }
  return absl::Span<char>(mapped_, size);
}

}  // namespace vicinity
