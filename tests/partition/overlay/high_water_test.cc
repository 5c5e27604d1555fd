#include "partition/overlay/high_water.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

void Spoil(const std::string& path, int64_t at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(at);
  file.put('x');
}

TEST_CASE("a mark is what it was raised to last, also when opened again", "[high_water]") {
  const testing::TempDir folder;
  const std::string path = folder.File("mark");
  for (const uint64_t version : {0, 1, 2, 7}) {
    auto mark = HighWater::Open(path);
    VICINITY_REQUIRE_OK(mark.status());
    VICINITY_CHECK_OK((*mark)->Raise(version));
    VICINITY_CHECK_OK((*mark)->Raise(version / 2));
    CHECK((*mark)->version() == version);
    CHECK((*HighWater::Open(path))->version() == version);
  }
}

TEST_CASE("a log that was made once is known to have been", "[high_water]") {
  const testing::TempDir folder;
  const std::string path = folder.File("mark");
  {
    auto mark = HighWater::Open(path);
    VICINITY_REQUIRE_OK(mark.status());
    CHECK_FALSE((*mark)->was_made());
    CHECK_FALSE((*HighWater::Open(path))->was_made());
    VICINITY_CHECK_OK((*mark)->Made());
    VICINITY_CHECK_OK((*mark)->Made());
    CHECK((*mark)->was_made());
    CHECK((*mark)->version() == 0);
  }
  CHECK((*HighWater::Open(path))->was_made());
}

TEST_CASE("a slot that was torn leaves the mark before, two leave none", "[high_water]") {
  const testing::TempDir folder;
  const std::string path = folder.File("mark");
  {
    auto mark = HighWater::Open(path);
    VICINITY_REQUIRE_OK(mark.status());
    VICINITY_CHECK_OK((*mark)->Raise(5));  // the first slot: turns 0 and 1 were the empty ones
    VICINITY_CHECK_OK((*mark)->Raise(6));
  }
  Spoil(path, 4096 + 8);
  {
    auto mark = HighWater::Open(path);
    VICINITY_REQUIRE_OK(mark.status());
    CHECK((*mark)->version() == 5);
    VICINITY_CHECK_OK((*mark)->Raise(9));
    CHECK((*HighWater::Open(path))->version() == 9);
  }
  Spoil(path, 8);
  Spoil(path, 4096 + 8);
  CHECK(HighWater::Open(path).status().code() == absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace vicinity
