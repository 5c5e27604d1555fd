#include "partition/writing/partial_folder.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "proto/common/file.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

namespace fs = std::filesystem;
using testing::TempDir;

TEST_CASE("a folder appears when it is published, with what is in it", "[partition]") {
  TempDir dir;
  {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<PartialFolder> folder,
                                  PartialFolder::Create(dir.File("a/")));
    CHECK(folder->final_path() == dir.File("a"));
    VICINITY_REQUIRE_OK(folder->MakeFolder("inner"));
    VICINITY_CHECK_CODE(folder->MakeFolder("inner"), absl::StatusCode::kAlreadyExists);
    VICINITY_REQUIRE_OK(WriteFileAtomically(folder->partial_path() + "/inner/file", "x"));
    CHECK_FALSE(fs::exists(dir.File("a")));
    VICINITY_REQUIRE_OK(folder->Publish());
  }
  CHECK(fs::exists(dir.File("a/inner/file")));
  CHECK_FALSE(fs::exists(dir.File("a.partial")));
}

TEST_CASE("a folder that is not published goes", "[partition]") {
  TempDir dir;
  {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<PartialFolder> folder,
                                  PartialFolder::Create(dir.File("a")));
    VICINITY_REQUIRE_OK(folder->MakeFolder("inner"));
  }
  CHECK(fs::is_empty(dir.path()));
}

TEST_CASE("leftovers are cleared, other writers and folders are not", "[partition]") {
  TempDir dir;
  fs::create_directories(dir.File("a.partial/old/deep"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<PartialFolder> folder,
                                PartialFolder::Create(dir.File("a")));
  CHECK(fs::is_empty(dir.File("a.partial")));
  VICINITY_REQUIRE_OK(folder->MakeFolder("mine"));
  VICINITY_CHECK_CODE(PartialFolder::Create(dir.File("a")), absl::StatusCode::kAlreadyExists);
  CHECK(fs::exists(dir.File("a.partial/mine")));
  fs::create_directory(dir.File("a"));
  VICINITY_CHECK_CODE(folder->Publish(), absl::StatusCode::kAlreadyExists);
  VICINITY_CHECK_CODE(PartialFolder::Create(dir.File("a")), absl::StatusCode::kAlreadyExists);
  fs::remove(dir.File("a"));
  VICINITY_CHECK_OK(folder->Publish());
}

TEST_CASE("a folder needs a place to lie in", "[partition]") {
  TempDir dir;
  VICINITY_CHECK_CODE(PartialFolder::Create(dir.File("no/a")), absl::StatusCode::kNotFound);
  VICINITY_CHECK_CODE(PartialFolder::Create(""), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(PartialFolder::Create("/"), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity
