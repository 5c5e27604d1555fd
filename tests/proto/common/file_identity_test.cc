#include "proto/common/file_identity.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "proto/common/file.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

TEST_CASE("a file that nobody touches stays the same", "[file_identity]") {
  const testing::TempDir folder;
  VICINITY_REQUIRE_OK(WriteFileAtomically(folder.File("f"), "one"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto open, OpenFolder::Open(folder.path()));
  const FileIdentity before = open->Look("f");
  CHECK(before.exists());
  CHECK(before.size == 3);
  CHECK(open->Look("f") == before);
  CHECK_FALSE(open->Look("g").exists());
}

TEST_CASE("a file put in its place is another one", "[file_identity]") {
  const testing::TempDir folder;
  VICINITY_REQUIRE_OK(WriteFileAtomically(folder.File("f"), "one"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto open, OpenFolder::Open(folder.path()));
  const FileIdentity before = open->Look("f");
  std::filesystem::copy_file(folder.File("f"), folder.File("g"));
  std::filesystem::rename(folder.File("g"), folder.File("f"));
  CHECK_FALSE(open->Look("f").IsSameFile(before));
  CHECK(open->Look("f") != before);
}

TEST_CASE("a folder that is not there is not found", "[file_identity]") {
  const testing::TempDir folder;
  VICINITY_CHECK_CODE(OpenFolder::Open(folder.File("none")), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace vicinity
