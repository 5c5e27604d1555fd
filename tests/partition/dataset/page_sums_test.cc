#include "partition/dataset/page_sums.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/types/span.h"
#include "proto/common/checksum.h"

namespace vicinity {
namespace {

// docs/formats.md tells the same.
TEST_CASE("sums and roots stand behind the data", "[page_sums]") {
  const PageLayout small = LayoutOf(65);
  CHECK(small.data_bytes == 72);
  CHECK(small.num_pages == 1);
  CHECK(small.num_roots == 1);
  CHECK(small.roots_offset() == 80);
  CHECK(small.file_bytes() == 88);
  const PageLayout large = LayoutOf(513 * 4096);
  CHECK(large.num_pages == 513);
  CHECK(large.num_roots == 2);
  CHECK(large.file_bytes() == 513 * 4096 + 515 * 8);
  CHECK(LayoutOf(4096).num_pages == 1);
  CHECK(LayoutOf(4097).num_pages == 2);
}

TEST_CASE("ranges cover all data and all sums, once", "[page_sums]") {
  const PageLayout layout = LayoutOf(GENERATE(int64_t{64}, int64_t{4095}, 513 * 4096 + 5));
  int64_t at = 0;
  for (int64_t page = 0; page < layout.num_pages; ++page) {
    const ByteRange range = PageRange(layout, page);
    CHECK(range.begin == at);
    CHECK(range.end > range.begin);
    at = range.end;
  }
  CHECK(at == layout.data_bytes);
  for (int64_t root = 0; root < layout.num_roots; ++root) {
    const ByteRange range = SumsRange(layout, root);
    CHECK(range.begin == at);
    at = range.end;
  }
  CHECK(at == layout.roots_offset());
}

TEST_CASE("a change of any byte changes what the manifest keeps, or a sum on the way",
          "[page_sums]") {
  const PageLayout layout = LayoutOf(9000);
  std::string file(layout.file_bytes(), 'a');
  const uint64_t sealed = SealPages(layout, absl::MakeSpan(file));
  const std::string roots = file.substr(layout.roots_offset());
  CHECK(sealed == Checksum(roots));
  for (const size_t at : {size_t{0}, size_t{4095}, size_t{4096}, size_t{8999}}) {
    std::string changed = file;
    changed[at] ^= 1;
    CHECK(SealPages(layout, absl::MakeSpan(changed)) != sealed);
    CHECK(changed.substr(layout.roots_offset()) != roots);
  }
}

}  // namespace
}  // namespace vicinity
