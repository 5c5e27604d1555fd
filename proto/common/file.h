// Files as this project uses them: mapped whole, or written whole and renamed into place.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace vicinity {

// A file mapped read-only and shared with every process that maps it.
//
// Threads:  any number may read.
// Lifetime: bytes() lives as long as the object.
class MappedFile {
 public:
  // NotFound, PermissionDenied or Unavailable with path and errno text.
  static absl::StatusOr<std::unique_ptr<MappedFile>> Open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  std::string_view bytes() const { return {data_, size_}; }

  // For a file that is read at random all over (open_file.h).
  void AskForHugePages() const;

 private:
  MappedFile(std::string path, const char* data, size_t size);
  const std::string path_;
  const char* const data_;
  const size_t size_;
};

// A new file of a fixed size, mapped for writing in any order.
//
// Threads: disjoint parts may be written at once.
class MappedOutput {
 public:
  // Takes the disk space at once, so a full disk is ResourceExhausted here and never a
  // bus error later. AlreadyExists if there is such a file.
  static absl::StatusOr<std::unique_ptr<MappedOutput>> Create(const std::string& path,
                                                              int64_t size);
  ~MappedOutput();  // unmaps; what was written stays
  MappedOutput(const MappedOutput&) = delete;
  MappedOutput& operator=(const MappedOutput&) = delete;

  absl::Span<char> bytes() { return {data_, size_}; }
  // Waits until the bytes are on disk.
  absl::Status Sync();

 private:
  MappedOutput(std::string path, char* data, size_t size);
  const std::string path_;
  char* const data_;
  const size_t size_;
};

// The whole file. ResourceExhausted if it is larger than `limit_bytes`.
absl::StatusOr<std::string> ReadFile(const std::string& path, int64_t limit_bytes = 64 << 20);

// Hands `take` the whole file, piece by piece. `take` may keep no piece.
absl::Status ReadInPieces(const std::string& path,
                          const std::function<absl::Status(std::string_view)>& take);

// Writes beside `path`, syncs, renames: a reader sees the old file or the new, never half.
absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes);

// Syncs a directory, so that files created in it survive a power cut.
absl::Status SyncDirectory(const std::string& path);

// The error of a failed system call: code from errno, text "path: what: strerror".
absl::Status ErrnoStatus(int error, absl::string_view path, absl::string_view what);

}  // namespace vicinity
