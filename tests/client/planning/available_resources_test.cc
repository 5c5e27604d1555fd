#include "client/planning/available_resources.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/status/status.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

TEST_CASE("work that does not fit is refused with both amounts", "[planning]") {
  const WorkEstimate need = {1 << 20, 3 << 20};
  VICINITY_CHECK_OK(CheckFits(need, {1 << 20, 3 << 20}));
  VICINITY_CHECK_OK(CheckFits(need, {-1, -1}));
  CHECK_THAT(NeedText(need, {-1, 5 << 20}), Catch::Contains("1.0 MiB") &&
                                                Catch::Contains("an unknown amount") &&
                                                Catch::Contains("3.0 MiB of disk (5.0 MiB)"));
  const absl::Status memory = CheckFits(need, {1000, -1});
  VICINITY_CHECK_CODE(memory, absl::StatusCode::kResourceExhausted);
  CHECK_THAT(std::string(memory.message()),
             Catch::Contains("1.0 MiB") && Catch::Contains("1000 B"));
  VICINITY_CHECK_CODE(CheckFits(need, {-1, (3 << 20) - 1}), absl::StatusCode::kResourceExhausted);
}

TEST_CASE("this machine has memory and disk", "[planning]") {
  const testing::TempDir folder;
  VICINITY_ASSERT_OK_AND_ASSIGN(const AvailableResources available, ResourcesAt(folder.path()));
  CHECK(available.memory_bytes > 0);
  CHECK(available.disk_bytes > 0);
  VICINITY_CHECK_CODE(ResourcesAt(folder.File("nothing")).status(), absl::StatusCode::kNotFound);
}

TEST_CASE("the folder of a new directory is told from its path", "[planning]") {
  CHECK(ParentOf("new") == ".");
  CHECK(ParentOf("new/") == ".");
  CHECK(ParentOf("a/new") == "a");
  CHECK(ParentOf("/a/new/") == "/a");
  CHECK(ParentOf("/new") == "/");
}

}  // namespace
}  // namespace vicinity
