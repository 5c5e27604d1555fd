// Checks a data file with page sums by reading it, not through a mapping: as it is on the disk, or
// in the system's cache.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "partition/dataset/page_sums.h"

namespace vicinity {

// DataLoss: "path: the page at byte 4096: checksum is ..., stored is ...".
absl::Status ChecksumMismatch(const std::string& path, absl::string_view what, int64_t at,
                              uint64_t found, uint64_t stored);

// Exactly the bytes of `range`. DataLoss if there are fewer, or they cannot be read.
absl::Status ReadExactly(int fd, const std::string& path, const ByteRange& range, char* out);

// Threads: immutable. Errors: DataLoss naming `path` and the place.
class PageReader {
 public:
  PageReader() = default;
  PageReader(std::string path, const PageLayout& layout, uint64_t roots_checksum);

  // The roots, if they are what the manifest says.
  absl::StatusOr<std::vector<uint64_t>> ReadRoots(int fd) const;
  // Checks the sums that root number `root` covers against it, and their pages against them.
  // `buffer` is memory to use, 2 MiB.
  absl::Status CheckBlock(int fd, int64_t root, uint64_t stored, std::vector<char>* buffer) const;

 private:
  std::string path_;
  PageLayout layout_;
  uint64_t roots_checksum_ = 0;
};

}  // namespace vicinity
