#include "partition/dataset/page_reader.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/common/checksum.h"
#include "proto/common/file.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

uint64_t SumOf(const std::vector<uint64_t>& values) {
  return Checksum({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(uint64_t)});
}

}  // namespace

absl::Status ChecksumMismatch(const std::string& path, absl::string_view what, int64_t at,
                              uint64_t found, uint64_t stored) {
  return absl::DataLossError(absl::StrCat(path, ": ", what, " at byte ", at, ": checksum is ",
                                          absl::Hex(found, absl::kZeroPad16), ", stored is ",
                                          absl::Hex(stored, absl::kZeroPad16)));
}

absl::Status ReadExactly(int fd, const std::string& path, const ByteRange& range, char* out) {
  for (int64_t at = range.begin; at < range.end;) {
    const ssize_t got = pread(fd, out + (at - range.begin), range.end - at, at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return absl::DataLossError(ErrnoStatus(errno, path, "read").message());
    if (got == 0) {
      return absl::DataLossError(absl::StrCat(path, ": ends at byte ", at, " of ", range.end));
    }
    at += got;
  }
  return absl::OkStatus();
}

PageReader::PageReader(std::string path, const PageLayout& layout, uint64_t roots_checksum)
    : path_(std::move(path)), layout_(layout), roots_checksum_(roots_checksum) {}

absl::StatusOr<std::vector<uint64_t>> PageReader::ReadRoots(int fd) const {
  std::vector<uint64_t> roots(layout_.num_roots);
  VICINITY_RETURN_IF_ERROR(ReadExactly(fd, path_, {layout_.roots_offset(), layout_.file_bytes()},
                                       reinterpret_cast<char*>(roots.data())));
  const uint64_t found = SumOf(roots);
  if (found == roots_checksum_) return roots;
  return ChecksumMismatch(path_, "the roots", layout_.roots_offset(), found, roots_checksum_);
}

absl::Status PageReader::CheckBlock(int fd, int64_t root, uint64_t stored,
                                    std::vector<char>* buffer) const {
  const ByteRange sums_range = SumsRange(layout_, root);
  std::vector<uint64_t> sums((sums_range.end - sums_range.begin) / sizeof(uint64_t));
  VICINITY_RETURN_IF_ERROR(
      ReadExactly(fd, path_, sums_range, reinterpret_cast<char*>(sums.data())));
  if (const uint64_t found = SumOf(sums); found != stored) {
    return ChecksumMismatch(path_, "the page sums", sums_range.begin, found, stored);
  }
  const ByteRange block = BlockRange(layout_, root);
  buffer->resize(std::max(buffer->size(), static_cast<size_t>(block.end - block.begin)));
  VICINITY_RETURN_IF_ERROR(ReadExactly(fd, path_, block, buffer->data()));
  for (size_t i = 0; i < sums.size(); ++i) {
    const ByteRange page = PageRange(layout_, root * kSumsARoot + static_cast<int64_t>(i));
    const uint64_t found = Checksum(
        {buffer->data() + (page.begin - block.begin), static_cast<size_t>(page.end - page.begin)});
    if (found != sums[i]) {
      return ChecksumMismatch(path_, "the page", page.begin, found, sums[i]);
    }
  }
  return absl::OkStatus();
}

}  // namespace vicinity
