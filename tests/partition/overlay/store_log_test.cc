#include "partition/overlay/store_log.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <string>

#include "proto/common/file.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

TEST_CASE("lines are written behind those that are there", "[store_log]") {
  const testing::TempDir folder;
  for (const char* const text : {"one", "two"}) {
    rocksdb::Log(StoreLog::Open(folder.File("LOG")), "%s of %d", text, 2);
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::string log, ReadFile(folder.File("LOG")));
  CHECK_THAT(log, Catch::Contains("one of 2\n") && Catch::EndsWith("two of 2\n"));
}

TEST_CASE("a log and the one before it stay small", "[store_log]") {
  const testing::TempDir folder;
  const auto log = StoreLog::Open(folder.File("LOG"));
  const std::string text(3000, 'x');
  for (int line = 0; line < 5000; ++line) rocksdb::Log(log, "%s", text.c_str());
  CHECK(std::filesystem::file_size(folder.File("LOG")) <= StoreLog::kMostBytes);
  CHECK(std::filesystem::file_size(folder.File("LOG.old")) <= StoreLog::kMostBytes);
  int64_t files = 0;
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(folder.File("."))) {
    ++files;
  }
  CHECK(files == 2);
}

TEST_CASE("what cannot be written is dropped", "[store_log]") {
  const testing::TempDir folder;
  rocksdb::Log(StoreLog::Open(folder.File("nowhere/LOG")), "one");
  // A link is not followed; a disk that is full says so with each write.
  std::filesystem::create_symlink("/dev/full", folder.File("LOG"));
  rocksdb::Log(StoreLog::Open(folder.File("LOG")), "two");
  const auto full = StoreLog::Open("/dev/full");
  for (int line = 0; line < 3; ++line) rocksdb::Log(full, "three");
  // Nobody has died of it, nothing was made in its place, and nothing counts as written: a log that
  // grew by dropped lines would be set aside.
  const std::string text(3000, 'x');
  const auto log = StoreLog::Open(folder.File("LOG"));
  for (int64_t bytes = 0; bytes <= StoreLog::kMostBytes; bytes += 3000) {
    rocksdb::Log(log, "%s", text.c_str());
  }
  CHECK_FALSE(std::filesystem::exists(folder.File("nowhere")));
  CHECK(std::filesystem::is_symlink(folder.File("LOG")));
  CHECK_FALSE(std::filesystem::exists(folder.File("LOG.old")));
}

}  // namespace
}  // namespace vicinity
