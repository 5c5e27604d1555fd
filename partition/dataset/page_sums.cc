#include "partition/dataset/page_sums.h"

#include <algorithm>
#include <cstring>

#include "proto/common/checksum.h"

namespace vicinity {
namespace {

std::string_view Part(absl::Span<char> file, const ByteRange& range) {
  return {file.data() + range.begin, static_cast<size_t>(range.end - range.begin)};
}

void Store(absl::Span<char> file, int64_t at, uint64_t sum) {
  std::memcpy(file.data() + at, &sum, sizeof(sum));
}

}  // namespace

PageLayout LayoutOf(int64_t bytes) {
  PageLayout layout;
  layout.data_bytes = (bytes + 7) / 8 * 8;
  layout.num_pages = (layout.data_bytes + kPageBytes - 1) / kPageBytes;
  layout.num_roots = (layout.num_pages + kSumsARoot - 1) / kSumsARoot;
  return layout;
}

ByteRange PageRange(const PageLayout& layout, int64_t page) {
  return {page * kPageBytes, std::min((page + 1) * kPageBytes, layout.data_bytes)};
}

ByteRange SumsRange(const PageLayout& layout, int64_t root) {
  return {layout.data_bytes + root * kSumsARoot * 8,
          layout.data_bytes + std::min((root + 1) * kSumsARoot, layout.num_pages) * 8};
}

ByteRange BlockRange(const PageLayout& layout, int64_t root) {
  return {root * kSumsARoot * kPageBytes,
          std::min((root + 1) * kSumsARoot * kPageBytes, layout.data_bytes)};
}

uint64_t SealPages(const PageLayout& layout, absl::Span<char> file) {
  for (int64_t page = 0; page < layout.num_pages; ++page) {
    Store(file, layout.data_bytes + 8 * page, Checksum(Part(file, PageRange(layout, page))));
  }
  for (int64_t root = 0; root < layout.num_roots; ++root) {
    Store(file, layout.roots_offset() + 8 * root, Checksum(Part(file, SumsRange(layout, root))));
  }
  return Checksum(Part(file, {layout.roots_offset(), layout.file_bytes()}));
}

}  // namespace vicinity
