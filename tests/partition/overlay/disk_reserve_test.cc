#include "partition/overlay/disk_reserve.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include "absl/status/status.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

constexpr int64_t kBytes = int64_t{1} << 20;

int64_t BytesOnDisk(const std::string& path) {
  struct stat file {};
  return stat(path.c_str(), &file) == 0 ? int64_t{file.st_blocks} * 512 : 0;
}

TEST_CASE("a reserve takes its room, gives it up and takes it again", "[disk_reserve]") {
  const testing::TempDir folder;
  DiskReserve reserve(folder.File("reserve"), kBytes);
  CHECK_FALSE(reserve.is_held());
  CHECK(reserve.missing_bytes() == kBytes);
  for (int time = 0; time < 2; ++time) {
    VICINITY_REQUIRE_OK(reserve.Make());
    VICINITY_REQUIRE_OK(reserve.Make());
    CHECK(reserve.is_held());
    CHECK(reserve.missing_bytes() == 0);
    CHECK_FALSE(reserve.is_given_up());
    CHECK(BytesOnDisk(reserve.path()) >= kBytes);
    CHECK(reserve.GiveUp());
    CHECK_FALSE(reserve.GiveUp());
    CHECK(reserve.is_given_up());
    CHECK(reserve.missing_bytes() == kBytes);
    CHECK_FALSE(std::filesystem::exists(reserve.path()));
  }
}

TEST_CASE("a reserve of an earlier process is taken over, or made anew if it has holes",
          "[disk_reserve]") {
  const testing::TempDir folder;
  VICINITY_REQUIRE_OK(DiskReserve(folder.File("reserve"), kBytes).Make());
  DiskReserve another(folder.File("reserve"), kBytes);
  CHECK(another.GiveUp());
  std::ofstream(folder.File("reserve")).flush();
  std::filesystem::resize_file(folder.File("reserve"), kBytes);
  DiskReserve third(folder.File("reserve"), kBytes);
  VICINITY_REQUIRE_OK(third.Make());
  CHECK(BytesOnDisk(third.path()) >= kBytes);
}

TEST_CASE("a reserve that does not fit takes nothing", "[disk_reserve]") {
  const testing::TempDir folder;
  DiskReserve reserve(folder.File("reserve"), int64_t{1} << 60);
  CHECK(reserve.Make().code() == absl::StatusCode::kResourceExhausted);
  CHECK_FALSE(reserve.is_held());
  CHECK_FALSE(std::filesystem::exists(reserve.path()));
}

TEST_CASE("without a reserve there is no file, not even of an earlier process", "[disk_reserve]") {
  const testing::TempDir folder;
  VICINITY_REQUIRE_OK(DiskReserve(folder.File("reserve"), kBytes).Make());
  DiskReserve none(folder.File("reserve"), 0);
  VICINITY_REQUIRE_OK(none.Make());
  CHECK_FALSE(std::filesystem::exists(none.path()));
  CHECK_FALSE(none.GiveUp());
  CHECK(none.missing_bytes() == 0);
}

}  // namespace
}  // namespace vicinity
