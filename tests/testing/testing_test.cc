// The helpers of this folder, on themselves.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::testing {
namespace {

TEST_CASE("a status is matched by its code alone", "[testing]") {
  const absl::Status missing = absl::NotFoundError("node 7");
  VICINITY_CHECK_CODE(missing, absl::StatusCode::kNotFound);
  CHECK_FALSE(IsOk().match(missing));
  CHECK(IsOk().match(absl::OkStatus()));
  CHECK(HasCode(absl::StatusCode::kNotFound).describe() == "should be NOT_FOUND");
}

TEST_CASE("a failed check shows the status with its text", "[testing]") {
  CHECK_THAT(Catch::Detail::stringify(absl::NotFoundError("node 7")),
             Catch::Contains("NOT_FOUND") && Catch::Contains("node 7"));
}

TEST_CASE("a StatusOr is checked and unpacked once, move-only values too", "[testing]") {
  int calls = 0;
  const auto make = [&calls](int first, int second) -> absl::StatusOr<std::unique_ptr<int>> {
    ++calls;
    return std::make_unique<int>(first + second);
  };
  VICINITY_CHECK_OK(make(1, 2));
  VICINITY_REQUIRE_OK(make(1, 2));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<int> made, make(3, 4));
  CHECK(*made == 7);
  CHECK(calls == 3);

  std::unique_ptr<int> assigned;
  VICINITY_ASSERT_OK_AND_ASSIGN(assigned, make(5, 6));
  CHECK(*assigned == 11);
  VICINITY_CHECK_CODE(absl::StatusOr<int>(absl::DataLossError("torn")),
                      absl::StatusCode::kDataLoss);
}

TEST_CASE("temporary folders are distinct, and go with what they hold", "[testing]") {
  std::string path;
  {
    const TempDir first;
    const TempDir second;
    CHECK(first.path() != second.path());
    path = first.path();
    std::filesystem::create_directory(first.File("inner"));
    std::ofstream(first.File("inner/file")) << "text";
    CHECK(std::filesystem::exists(path + "/inner/file"));
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace vicinity::testing
