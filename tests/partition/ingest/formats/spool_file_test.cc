#include "partition/ingest/formats/spool_file.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

TEST_CASE("what was appended in pieces of any size is mapped as a whole", "[spool_file]") {
  const testing::TempDir dir;
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto spool, SpoolFile::Create(dir.path()));
  std::string expected;
  for (const size_t size : {size_t{1}, size_t{1000}, size_t{3} << 20, size_t{0}, size_t{1} << 20}) {
    const std::string piece(size, static_cast<char>('a' + size % 7));
    VICINITY_REQUIRE_OK(spool->Append(piece));
    expected += piece;
  }
  CHECK(spool->size() == static_cast<int64_t>(expected.size()));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::string_view mapped, spool->Map());
  CHECK((mapped == expected));
}

TEST_CASE("a spool has no name in its folder, and leaves nothing behind", "[spool_file]") {
  const testing::TempDir dir;
  {
    VICINITY_ASSERT_OK_AND_ASSIGN(const auto spool, SpoolFile::Create(dir.path()));
    VICINITY_REQUIRE_OK(spool->Append("data"));
    CHECK(std::filesystem::is_empty(dir.path()));
  }
  CHECK(std::filesystem::is_empty(dir.path()));
}

TEST_CASE("a mapping of a fixed size begins as zeros and keeps what is written", "[spool_file]") {
  const testing::TempDir dir;
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto spool, SpoolFile::Create(dir.path()));
  VICINITY_ASSERT_OK_AND_ASSIGN(const absl::Span<char> bytes, spool->MapFixed(100000));
  CHECK(bytes.size() == 100000);
  CHECK(bytes[99999] == 0);
  bytes[99999] = 'x';
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::string_view mapped, spool->Map());
  CHECK(mapped[99999] == 'x');
}

TEST_CASE("empty spools are ordinary", "[spool_file]") {
  const testing::TempDir dir;
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto spool, SpoolFile::Create(dir.path()));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::string_view mapped, spool->Map());
  CHECK(mapped.empty());
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto fixed, SpoolFile::Create(dir.path()));
  VICINITY_ASSERT_OK_AND_ASSIGN(const absl::Span<char> bytes, fixed->MapFixed(0));
  CHECK(bytes.empty());
}

TEST_CASE("a folder that is not there is an error with its name", "[spool_file]") {
  const testing::TempDir dir;
  const auto spool = SpoolFile::Create(dir.File("none"));
  VICINITY_CHECK_CODE(spool, absl::StatusCode::kNotFound);
  CHECK_THAT(std::string(spool.status().message()), Catch::Contains("none"));
}

TEST_CASE("more space than any disk has is refused before anything is written", "[spool_file]") {
  const testing::TempDir dir;
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto spool, SpoolFile::Create(dir.path()));
  VICINITY_CHECK_CODE(spool->MapFixed(int64_t{1} << 60), absl::StatusCode::kResourceExhausted);
}

TEST_CASE("temporary files go beside what they are for", "[spool_file]") {
  CHECK(SpoolDirectoryFor("/a/b/c") == "/a/b");
  CHECK(SpoolDirectoryFor("/a/b/c/") == "/a/b");
  CHECK(SpoolDirectoryFor("c") == ".");
  CHECK(SpoolDirectoryFor("c/") == ".");
  CHECK(SpoolDirectoryFor("/c") == "/");
}

}  // namespace
}  // namespace vicinity
