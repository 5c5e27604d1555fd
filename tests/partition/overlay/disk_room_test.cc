#include "partition/overlay/disk_room.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

TEST_CASE("a disk that is full is written again when there is a quarter more room", "[disk_room]") {
  int64_t free = 2000;
  DiskRoom room("changes", 1000, [&] { return free; });
  CHECK(room.Check(900).ok());
  CHECK(room.Check(1000).ok());
  const absl::Status full = room.Check(1001);
  CHECK(full.code() == absl::StatusCode::kResourceExhausted);
  CHECK_THAT(std::string(full.message()), Catch::Contains("changes") &&
                                              Catch::Contains("2.0 KiB") &&
                                              Catch::Contains("1.2 KiB"));
  CHECK_FALSE(room.Check(800).ok());  // less than a quarter more than should be would be left
  CHECK(room.Check(700).ok());
  CHECK(room.Check(1000).ok());  // no longer full
}

TEST_CASE("what does not fit at all is refused also where nobody says what is to stay free",
          "[disk_room]") {
  int64_t free = 2000;
  const DiskRoom room("changes", 0, [&] { return free; });
  CHECK(room.CheckFits(2000).ok());
  CHECK(room.CheckFits(2001).code() == absl::StatusCode::kResourceExhausted);
  free = -5;
  CHECK_FALSE(room.CheckFits(0).ok());
}

TEST_CASE("a limit is below from less than it until a quarter more", "[disk_room]") {
  FreeLimit limit(100);
  CHECK_FALSE(limit.IsBelow(100));
  CHECK(limit.IsBelow(99));
  CHECK(limit.IsBelow(124));
  CHECK_FALSE(limit.IsBelow(125));
  CHECK_FALSE(limit.IsBelow(100));
  CHECK_FALSE(FreeLimit(0).IsBelow(-1));
}

TEST_CASE("the room that the system says is looked at", "[disk_room]") {
  const testing::TempDir folder;
  CHECK(DiskRoom(folder.File("."), 1).Check(1).ok());
  CHECK_FALSE(DiskRoom(folder.File("."), INT64_MAX / 2).Check(1).ok());
  CHECK(DiskRoom(folder.File("nothing"), 1).Check(1).code() == absl::StatusCode::kUnavailable);
  CHECK(DiskRoom(folder.File("nothing"), 0).Check(1).ok());
}

}  // namespace
}  // namespace vicinity
