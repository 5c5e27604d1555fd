// The checksums of a data file's pages, which stand behind its rows (docs/formats.md, section 2).
//
//   0            data_bytes             roots_offset       file_bytes
//   | header, rows | sums: one a page     | roots: one for   |
//   | zeros to 8   | of what is before    | 512 sums each    |
//
// The manifest has the checksum of the roots, which are read when a file is opened: 8 bytes for
// every 2 MiB. Each block of 512 sums is checked against its root, and each page against its sum,
// when it is first used. So a file is verified piece by piece, and none of it on trust.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"

namespace vicinity {

inline constexpr int64_t kPageBytes = 4096;
inline constexpr int64_t kSumsARoot = 512;

struct PageLayout {
  int64_t data_bytes = 0;
  int64_t num_pages = 0;
  int64_t num_roots = 0;

  int64_t roots_offset() const { return data_bytes + 8 * num_pages; }
  int64_t file_bytes() const { return roots_offset() + 8 * num_roots; }
};

// For a file of `bytes` with header and rows: at least 1, at most 2^62.
PageLayout LayoutOf(int64_t bytes);

// Bytes [first, second) of the data that are page `page`, and of the sums that root `root` covers.
struct ByteRange {
  int64_t begin = 0;
  int64_t end = 0;
};
ByteRange PageRange(const PageLayout& layout, int64_t page);
ByteRange SumsRange(const PageLayout& layout, int64_t root);
// The pages whose sums root `root` covers: a block.
ByteRange BlockRange(const PageLayout& layout, int64_t root);

// Fills in sums and roots behind the data of a whole file in memory; returns the roots' checksum.
uint64_t SealPages(const PageLayout& layout, absl::Span<char> file);

}  // namespace vicinity
