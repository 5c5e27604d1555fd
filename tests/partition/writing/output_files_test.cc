#include "partition/writing/output_files.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "partition/dataset/file_header.h"
#include "partition/dataset/page_sums.h"
#include "proto/common/checksum.h"
#include "proto/common/file.h"
#include "proto/manifest.pb.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::TempDir;

TEST_CASE("an array that was added is found again as it was filled", "[partition]") {
  const TempDir dir;
  OutputFiles files(dir.path());
  CHECK_FALSE(files.Has("ids"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const OutputArray ids, files.Add("ids", FileKind::kEdgeIds, 3, 4));
  StoreId(ids, 2, 7);
  CHECK(files.Has("ids"));
  const OutputArray again = files.at("ids");
  CHECK(again.data == ids.data);
  CHECK(again.num_rows == 3);
  CHECK(again.row_bytes == 4);
  CHECK(again.as<uint32_t>()[2] == 7);
}

TEST_CASE("ids are stored as wide as the array has them", "[partition]") {
  const TempDir dir;
  OutputFiles files(dir.path());
  VICINITY_ASSERT_OK_AND_ASSIGN(const OutputArray ids, files.Add("ids", FileKind::kSources, 2, 8));
  StoreId(ids, 1, uint64_t{1} << 40);
  CHECK(ids.as<uint64_t>()[1] == uint64_t{1} << 40);
}

TEST_CASE("a file that is sealed has the header, sums and checksums that are told", "[partition]") {
  const TempDir dir;
  const int64_t num_rows = GENERATE(0, 5, 3000);
  OutputFiles files(dir.path());
  VICINITY_ASSERT_OK_AND_ASSIGN(const OutputArray rows,
                                files.Add("rows", FileKind::kColumn, num_rows, 8));
  for (int64_t i = 0; i < num_rows; ++i) rows.as<int64_t>()[i] = i * i;
  proto::FileEntry entry;
  VICINITY_REQUIRE_OK(files.Seal("rows", &entry));
  files.Close();
  CHECK_FALSE(files.Has("rows"));

  VICINITY_ASSERT_OK_AND_ASSIGN(const std::string bytes, ReadFile(dir.File("rows")));
  const PageLayout layout = LayoutOf(64 + num_rows * 8);
  CHECK(static_cast<int64_t>(bytes.size()) == layout.file_bytes());
  CHECK(entry.size() == bytes.size());
  CHECK(entry.checksum() == Checksum(bytes));
  CHECK(entry.pages_checksum() == Checksum(bytes.substr(layout.roots_offset())));
  VICINITY_ASSERT_OK_AND_ASSIGN(const FileHeader header,
                                ReadHeader("rows", bytes, FileKind::kColumn));
  CHECK(static_cast<int64_t>(header.num_rows) == num_rows);
}

TEST_CASE("an array of an impossible size is refused, and its path named", "[partition]") {
  const TempDir dir;
  OutputFiles files(dir.path());
  const auto added = GENERATE(0, 1) == 0
                         ? files.Add("rows", FileKind::kColumn, -1, 8)
                         : files.Add("rows", FileKind::kColumn, int64_t{1} << 60, 8);
  VICINITY_CHECK_CODE(added.status(), absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(added.status().message()), Catch::Contains("rows: "));
  CHECK_FALSE(files.Has("rows"));
}

}  // namespace
}  // namespace vicinity
