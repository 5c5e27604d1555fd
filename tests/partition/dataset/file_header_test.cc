#include "partition/dataset/file_header.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <set>
#include <string>

#include "partition/dataset/manifest.h"
#include "partition/dataset/page_sums.h"
#include "proto/common/checksum.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

// Of version 1, or of version 2 with whatever sums.
std::string FileOf(FileHeader header, size_t data_bytes) {
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
  bytes.append(data_bytes, 'd');
  if (header.format_version > 1) {
    bytes.resize(LayoutOf(static_cast<int64_t>(bytes.size())).file_bytes());
  }
  return bytes;
}

// With its checksum made right again, as a program that writes another format would have it.
std::string Sealed(FileHeader header, size_t data_bytes) {
  header.checksum = Checksum({reinterpret_cast<const char*>(&header), 56});
  return FileOf(header, data_bytes);
}

TEST_CASE("a header reads back", "[partition]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const FileHeader header,
      ReadHeader("f", FileOf(MakeHeader(FileKind::kColumn, 3, 5), 15), FileKind::kColumn));
  CHECK(header.num_rows == 3);
  CHECK(header.row_bytes == 5);
}

// docs/formats.md shows these bytes.
TEST_CASE("a header's bytes are as documented", "[partition]") {
  const std::string bytes = FileOf(MakeHeader(FileKind::kSources, 0x0102, 4), 0);
  const std::string start("VICINITY\x02\0\0\0\x08\0\0\0\x02\x01\0\0\0\0\0\0\x04\0\0\0\0\0\0\0", 32);
  CHECK(bytes.substr(0, 32) == start);
  CHECK(bytes.substr(32, 24) == std::string(24, '\0'));
}

TEST_CASE("a flip of any bit in a header is noticed", "[partition]") {
  std::string bytes = FileOf(MakeHeader(FileKind::kColumn, 3, 5), 15);
  for (size_t bit = 0; bit < 64 * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
    const absl::Status status = ReadHeader("dir/file", bytes, FileKind::kColumn).status();
    VICINITY_CHECK_CODE(status, absl::StatusCode::kDataLoss);
    CHECK_THAT(std::string(status.message()), Catch::Contains("dir/file"));
    bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
  }
}

TEST_CASE("a file of any other length is noticed", "[partition]") {
  const std::string bytes = FileOf(MakeHeader(FileKind::kColumn, 3, 5), 15);
  for (size_t size = 0; size < bytes.size(); ++size) {
    VICINITY_CHECK_CODE(ReadHeader("f", bytes.substr(0, size), FileKind::kColumn),
                        absl::StatusCode::kDataLoss);
  }
  VICINITY_CHECK_CODE(ReadHeader("f", bytes + "x", FileKind::kColumn), absl::StatusCode::kDataLoss);
}

TEST_CASE("a file of version 1 has its rows and nothing behind", "[partition]") {
  const std::string bytes = FileOf(MakeHeader(FileKind::kColumn, 3, 5, 1), 15);
  CHECK(bytes.size() == 64 + 15);
  VICINITY_CHECK_OK(ReadHeader("f", bytes, FileKind::kColumn));
  VICINITY_CHECK_CODE(ReadHeader("f", bytes + "x", FileKind::kColumn), absl::StatusCode::kDataLoss);
}

TEST_CASE("a newer file is refused as newer, another kind as damage", "[partition]") {
  FileHeader header = MakeHeader(FileKind::kColumn, 3, 5);
  header.format_version = kFormatVersion + 1;
  VICINITY_CHECK_CODE(ReadHeader("f", Sealed(header, 15), FileKind::kColumn),
                      absl::StatusCode::kFailedPrecondition);
  header = MakeHeader(FileKind::kKeys, 3, 5);
  VICINITY_CHECK_CODE(ReadHeader("f", Sealed(header, 15), FileKind::kColumn),
                      absl::StatusCode::kDataLoss);
}

TEST_CASE("rows and bytes that overflow are refused", "[partition]") {
  FileHeader header = MakeHeader(FileKind::kColumn, 0, 0);
  header.num_rows = uint64_t{1} << 63;
  VICINITY_CHECK_CODE(ReadHeader("f", Sealed(header, 0), FileKind::kColumn),
                      absl::StatusCode::kDataLoss);
  header.row_bytes = 2;  // 2^64 bytes: 0 to those who multiply in 64 bits
  VICINITY_CHECK_CODE(ReadHeader("f", Sealed(header, 0), FileKind::kColumn),
                      absl::StatusCode::kDataLoss);
  header.num_rows = header.row_bytes = UINT64_MAX;
  VICINITY_CHECK_CODE(ReadHeader("f", Sealed(header, 1), FileKind::kColumn),
                      absl::StatusCode::kDataLoss);
}

TEST_CASE("every kind has a name of its own", "[partition]") {
  std::set<std::string_view> names;
  for (uint32_t kind = 1; kind <= 10; ++kind) {
    names.insert(FileKindName(static_cast<FileKind>(kind)));
  }
  CHECK(names.size() == 10);
  CHECK(FileKindName(static_cast<FileKind>(77)) == "unknown");
}

}  // namespace
}  // namespace vicinity
