#include "partition/dataset/page_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "partition/dataset/page_sums.h"
#include "proto/common/file.h"
#include "tests/testing/graphs/damage.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

// A file of two blocks.
class PageReaderTest {
 public:
  PageReaderTest() : layout_(LayoutOf(600 * kPageBytes + 10)) {
    std::string bytes(layout_.file_bytes(), 'v');
    const uint64_t checksum = SealPages(layout_, absl::MakeSpan(bytes));
    VICINITY_REQUIRE_OK(WriteFileAtomically(path_, bytes));
    reader_ = PageReader(path_, layout_, checksum);
    fd_ = open(path_.c_str(), O_RDONLY);
    REQUIRE(fd_ >= 0);
  }
  ~PageReaderTest() { close(fd_); }

 protected:
  absl::Status CheckAll() const {
    const auto roots = reader_.ReadRoots(fd_);
    if (!roots.ok()) return roots.status();
    std::vector<char> buffer;
    for (int64_t root = 0; root < layout_.num_roots; ++root) {
      const absl::Status status = reader_.CheckBlock(fd_, root, (*roots)[root], &buffer);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }
  void MustSay(const std::string& what) const {
    const absl::Status status = CheckAll();
    VICINITY_CHECK_CODE(status, absl::StatusCode::kDataLoss);
    CHECK_THAT(std::string(status.message()), Catch::Contains(path_ + ": " + what));
  }

  const testing::TempDir folder_;
  const std::string path_ = folder_.File("f");
  const PageLayout layout_;
  PageReader reader_;
  int fd_ = -1;
};

TEST_CASE_METHOD(PageReaderTest, "a sound file passes, and damage is named where it is",
                 "[page_reader]") {
  VICINITY_CHECK_OK(CheckAll());
  testing::FlipBit(path_, 520 * kPageBytes + 7);
  MustSay("the page at byte " + std::to_string(520 * kPageBytes));
  testing::FlipBit(path_, 520 * kPageBytes + 7);
  testing::FlipBit(path_, layout_.data_bytes + 8);
  MustSay("the page sums at byte");
  testing::FlipBit(path_, layout_.data_bytes + 8);
  testing::FlipBit(path_, layout_.roots_offset());
  MustSay("the roots at byte");
  testing::FlipBit(path_, layout_.roots_offset());
  VICINITY_CHECK_OK(CheckAll());
}

TEST_CASE_METHOD(PageReaderTest, "a file that ends early says where", "[page_reader]") {
  testing::CutTo(path_, layout_.roots_offset());
  MustSay("ends at byte");
}

}  // namespace
}  // namespace vicinity
