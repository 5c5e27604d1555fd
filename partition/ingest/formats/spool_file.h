// Temporary data that does not belong in memory: a nameless file, gone with the process.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace vicinity {

// Used in one of two ways: appended to and then mapped, or mapped at a fixed size and filled in
// any order.
//
// Threads:  for one; disjoint parts of a mapping may be read and written at once.
// Lifetime: the mapping lives as long as the object. Whatever happens, no file is left over.
// Memory:   one buffer of 1 MiB; the mapped pages belong to the page cache.
class SpoolFile {
 public:
  // In `directory`, which must be on a disk with room. The error of the system call otherwise.
  static absl::StatusOr<std::unique_ptr<SpoolFile>> Create(const std::string& directory);
  ~SpoolFile();
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;

  // ResourceExhausted: the disk is full. Not after Map() or MapFixed().
  absl::Status Append(std::string_view bytes);
  int64_t size() const { return size_; }

  // All that was appended.
  absl::StatusOr<std::string_view> Map();

  // `size` zero bytes to fill, with the disk space taken at once (ResourceExhausted otherwise).
  absl::StatusOr<absl::Span<char>> MapFixed(int64_t size);

 private:
  SpoolFile(std::string directory, int fd);
  absl::Status Flush();
  absl::StatusOr<absl::Span<char>> MapAll();

  const std::string directory_;  // for messages
  const int fd_;
  std::string buffer_;
  int64_t size_ = 0;
  char* mapped_ = nullptr;
};

// Where the temporary files of what will be `output` belong: the folder that it is in.
std::string SpoolDirectoryFor(const std::string& output);

}  // namespace vicinity
