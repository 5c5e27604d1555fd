#include "client/planning/resources.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "absl/status/status.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::cli {
namespace {

TEST_CASE("work that does not fit is refused with both amounts", "[cli]") {
  std::ostringstream narration;
  const WorkEstimate need = {1 << 20, 3 << 20};
  VICINITY_CHECK_OK(CheckFits(need, {1 << 20, 3 << 20}, narration));
  VICINITY_CHECK_OK(CheckFits(need, {-1, -1}, narration));
  CHECK_THAT(narration.str(), Catch::Contains("1.0 MiB") && Catch::Contains("3.0 MiB"));
  const absl::Status memory = CheckFits(need, {1000, -1}, narration);
  VICINITY_CHECK_CODE(memory, absl::StatusCode::kResourceExhausted);
  CHECK_THAT(std::string(memory.message()),
             Catch::Contains("1.0 MiB") && Catch::Contains("1000 B"));
  VICINITY_CHECK_CODE(CheckFits(need, {-1, (3 << 20) - 1}, narration),
                      absl::StatusCode::kResourceExhausted);
}

TEST_CASE("this machine has memory and disk", "[cli]") {
  const testing::TempDir folder;
  VICINITY_ASSERT_OK_AND_ASSIGN(const Available available, LookAround(folder.path()));
  CHECK(available.memory_bytes > 0);
  CHECK(available.disk_bytes > 0);
  VICINITY_CHECK_CODE(LookAround(folder.File("nothing")).status(), absl::StatusCode::kNotFound);
}

TEST_CASE("the folder of a new directory is told from its path", "[cli]") {
  CHECK(ParentOf("new") == ".");
  CHECK(ParentOf("new/") == ".");
  CHECK(ParentOf("a/new") == "a");
  CHECK(ParentOf("/a/new/") == "/a");
  CHECK(ParentOf("/new") == "/");
}

}  // namespace
}  // namespace vicinity::cli
